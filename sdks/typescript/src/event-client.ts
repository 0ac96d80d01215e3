import type { IncomingMessage } from "node:http";
import type { Event, EventPage } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import type { Query } from "./calls.ts";
import { linesOf } from "./lines.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { sleep } from "./sleep.ts";
import type { Transport } from "./transport.ts";

export interface EventFilter {
  /** Only events after this seq; 0: all that are kept. */
  readonly after?: number;
  /** Only of one sandbox: its id or name, or the id of a removed one. */
  readonly sandbox?: string;
  /** Only of these types: `sandbox.paused`, `sandbox.*`. */
  readonly types?: readonly string[];
}

/** A daemon that says nothing for so long, not even that it is there, is gone: it says so each 10 s. */
const silentMs = 35_000;
const reconnectMs = 1000;
/** A daemon that was restarted is waited for so long. */
const patienceMs = 60_000;

/** Events of all sandboxes. */
export class EventClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A page, oldest first; its `next` is the `after` of the next one. Default limit 1000. */
  async list(options: EventFilter & { readonly limit?: number } = {}): Promise<EventPage> {
    refuseUnknown(options, { after: true, sandbox: true, types: true, limit: true });
    const { after, limit, ...filter } = options;
    return this.#transport.json("events", { query: { after, limit, ...queryOf(filter) } });
  }

  /**
   * Events as they come, until the signal: from now on, or after a seq. A connection that breaks is made anew, and goes on after the last event:
   * none is missed and none comes twice. Ends with the client. Throws `events_gone` if the daemon has forgotten some of them meanwhile.
   */
  async *follow(options: EventFilter & { readonly signal?: AbortSignal } = {}): AsyncGenerator<Event> {
    refuseUnknown(options, { after: true, sandbox: true, types: true, signal: true });
    const { after, signal, ...filter } = options;
    const place: Place = { filter, lastId: after === undefined ? "" : String(after), signal, met: false, lostAt: undefined };
    while (!this.#isOver(signal)) {
      try {
        yield* this.#connection(place);
      } catch (error) {
        if (this.#isOver(signal)) return;
        if (!mayComeBack(place, error)) throw error;
      }
      await sleep(reconnectMs, signal).catch(() => {});
    }
  }

  #isOver(signal: AbortSignal | undefined): boolean {
    return signal?.aborted === true || this.#transport.closed;
  }

  async *#connection(place: Place): AsyncGenerator<Event> {
    const answer = await this.#open(place);
    place.met = true;
    place.lostAt = undefined;
    for await (const { id, event } of blocksOf(answer)) {
      if (event !== undefined) yield event;
      // Only now: whoever took it has it.
      place.lastId = id ?? place.lastId;
    }
  }

  async #open({ filter, lastId, signal }: Place): Promise<IncomingMessage> {
    const answer = await this.#transport.call("events", {
      query: queryOf(filter),
      headers: { accept: "text/event-stream", ...(lastId === "" ? {} : { "last-event-id": lastId }) },
      ...(signal === undefined ? {} : { signal }),
    });
    answer.setTimeout(silentMs, () => answer.destroy());
    return answer;
  }
}

function queryOf({ sandbox, types }: EventFilter): Query {
  return { sandbox, type: types?.join(",") };
}

/** How far a reader has come. */
interface Place {
  readonly filter: EventFilter;
  readonly signal: AbortSignal | undefined;
  lastId: string;
  /** It was connected once. */
  met: boolean;
  /** Since then there is no connection. */
  lostAt: number | undefined;
}

/** A daemon that went, rather than one that refuses or was never there. */
function mayComeBack(place: Place, error: unknown): boolean {
  const lost =
    !(error instanceof TorporError) ||
    error.code === "daemon_unreachable" ||
    error.code === "connection_lost" ||
    error.code === "shutting_down";
  place.lostAt ??= Date.now();
  return place.met && lost && Date.now() - place.lostAt <= patienceMs;
}

interface Block {
  id?: string;
  event?: Event;
}

/** Server-sent events: fields in lines, and an empty line after each block. */
async function* blocksOf(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Block> {
  let block: Block = {};
  for await (const line of linesOf(answer)) {
    if (line.startsWith("id: ")) block.id = line.slice("id: ".length);
    else if (line.startsWith("data: ")) block.event = JSON.parse(line.slice("data: ".length)) as Event;
    else if (line === "") {
      yield block;
      block = {};
    }
  }
}
