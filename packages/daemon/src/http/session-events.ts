import type { TorporError } from "@torpor/contract";
import { type ErrorBody, type SessionOutput, toErrorBody } from "@torpor/contract";
import type { ReaderFrame } from "./session-frames.ts";

/** A browser's EventSource comes back after so long when the connection breaks. */
const reconnectMs = 1000;
/** A silent session says so, that proxies keep the connection and its end is noticed. */
const aliveMs = 15_000;

/** A session's frames as server-sent events. Output has its sequence number as id: EventSource comes back with the last one. */
export async function* sessionEvents(
  frames: AsyncIterable<ReaderFrame>,
  /** undefined: there is nobody any more to tell. */
  explain: (error: unknown) => TorporError | undefined,
): AsyncGenerator<Uint8Array> {
  const iterator = frames[Symbol.asyncIterator]();
  let opening = `retry: ${reconnectMs}\n`;
  let next = iterator.next();
  try {
    for (;;) {
      const got = await orAlive(next);
      if (got === "alive") {
        yield Buffer.from(": alive\n\n");
        continue;
      }
      if (got.done === true) return;
      next = iterator.next();
      next.catch(() => {}); // it is awaited in the next turn
      yield Buffer.from(opening + block(got.value));
      opening = "";
    }
  } catch (error) {
    // Before the first event it is a plain answer.
    if (opening !== "") throw error;
    const known = explain(error);
    if (known !== undefined) yield Buffer.from(event("error", toErrorBody(known) satisfies ErrorBody));
  } finally {
    await iterator.return?.();
  }
}

async function orAlive<T>(next: Promise<T>): Promise<T | "alive"> {
  let timer: NodeJS.Timeout | undefined;
  const alive = new Promise<"alive">((resolve) => {
    timer = setTimeout(resolve, aliveMs, "alive");
  });
  try {
    return await Promise.race([next, alive]);
  } finally {
    clearTimeout(timer);
  }
}

function block(frame: ReaderFrame): string {
  switch (frame.type) {
    case "started":
      return event("started", frame.session);
    case "output":
      return event("output", toOutput(frame), frame.seq);
    case "mark":
      return event("mark", frame.mark, frame.seq);
    case "live":
      return event("live", {});
    case "end":
      return event("end", frame.end);
  }
}

function toOutput({ seq, stream, data }: Extract<ReaderFrame, { type: "output" }>): SessionOutput {
  return { seq, stream, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
}

function event(name: string, data: unknown, id?: number): string {
  return `event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
