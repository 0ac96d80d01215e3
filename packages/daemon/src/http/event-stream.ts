import type { Event } from "@torpor/contract";
import type { FastifyReply } from "fastify";

type Batches = AsyncIterable<{ readonly events: readonly Event[]; readonly cursor: number }>;

/** A browser's EventSource comes back after so long when the connection breaks. */
const reconnectMs = 1000;
/** A client that takes nothing for so long is cut off: it reads on from its last id when it comes back. */
const stalledMs = 60_000;

/** Server-sent events of a feed. Every block has an id, also one without an event: what was looked at counts as read. */
export async function* eventStream(batches: Batches): AsyncGenerator<Uint8Array> {
  let first = true;
  for await (const { events, cursor } of batches) {
    const blocks = events.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
    // A comment, so that proxies keep the connection and its end is noticed.
    const opening = first ? `retry: ${reconnectMs}\n` : ": alive\n";
    if (events.length === 0) blocks.push(`${opening}id: ${cursor}\n\n`);
    first = false;
    yield Buffer.from(blocks.join(""));
  }
}

/** One for whom nothing waits has not stalled: the daemon itself was held up. */
export function cutOffWhenStalled({ raw }: Pick<FastifyReply, "raw">, limitMs = stalledMs): void {
  raw.setTimeout(limitMs, () => {
    if (raw.writableLength > 0) raw.destroy();
  });
}
