import { createClient, type Transport } from "@connectrpc/connect";
import { TorporError } from "@torpor/contract";
import type { GuestPorts } from "@torpor/core";
import { fromGuestError, type LineState, refuseIfClosed } from "./guest-error.ts";
import { Ports } from "./protocol/torpor/guest/v1/guest_pb.ts";

/** Of one message; the guest takes larger ones, and they would hold up what else is on the line. */
const chunkBytes = 64 * 1024;

export function createGuestPorts(transport: Transport, line: LineState): GuestPorts {
  const client = createClient(Ports, transport);
  return {
    async connect(port, input, signal) {
      refuseIfClosed(line);
      const left = new AbortController();
      const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
      try {
        const messages = client.connect(outgoing(port, input), { signal: ended })[Symbol.asyncIterator]();
        const connected = await messages.next();
        if (connected.done === true) throw new TorporError("internal", "the guest ended a connection to a port without a word");
        return { content: incoming(messages, line, () => left.abort()) };
      } catch (error) {
        left.abort();
        throw fromGuestError(error, line, "port");
      }
    },
  };
}

async function* outgoing(
  port: number,
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ port?: number; data?: Uint8Array; end?: boolean }> {
  yield { port };
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += chunkBytes) yield { data: chunk.subarray(at, at + chunkBytes) };
  }
  yield { end: true };
}

/** Its consumer's leaving ends the connection; the program's end of its own side does not. */
async function* incoming(
  messages: AsyncIterator<{ readonly data: Uint8Array; readonly end: boolean }>,
  line: LineState,
  leave: () => void,
): AsyncGenerator<Uint8Array> {
  let ended = false;
  try {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      if (next.value.end) {
        ended = true;
        // What this side still sends is taken until it ends too.
        void messages.next().catch(() => {});
        return;
      }
      if (next.value.data.length > 0) yield next.value.data;
    }
    ended = true;
  } catch (error) {
    throw fromGuestError(error, line, "port");
  } finally {
    if (!ended) leave();
  }
}
