import {
  type Interpreter,
  type InterpreterLanguage,
  ownInterpreters,
  type RunCodeRequest,
  type RunLine,
  type RunResult,
  type SessionEnd,
  TorporError,
} from "@torpor/contract";
import type { Desk } from "../desk.ts";
import { type GuestUse, useGuest } from "../guest-use.ts";
import type { GuestSession } from "../ports/guest.ts";
import { driverName, drivers, requestOf } from "./drivers.ts";
import { bytesOf, MarkedOutput } from "./marked-output.ts";

/** What cannot be interrupted is ended after so long: a busy host may take seconds for an interrupt, and what is ended loses its variables. */
const graceMs = 10_000;

export type RunEnd = Omit<RunResult, "stdout" | "stderr">;

export interface Interpreters {
  create(idOrName: string, language: InterpreterLanguage): Promise<Interpreter>;
  /** Runs code where the run before left off; its output as it comes, then how it ended. `iid` is a session's id or a language. */
  run(idOrName: string, iid: string, request: RunCodeRequest, signal?: AbortSignal): AsyncIterable<RunLine>;
}

export function createInterpreters(desk: Desk): Interpreters {
  const busy = new Set<string>();
  return {
    async create(idOrName, language) {
      const guest = await useGuest(desk, idOrName);
      const { id, pid } = await begin(guest, desk.ports.ids.next("se"), language);
      return { id, language, pid };
    },
    async *run(idOrName, iid, request, signal) {
      const guest = await useGuest(desk, idOrName);
      const session = await find(guest, iid);
      const place = `${guest.sandboxId} ${session.id}`;
      if (busy.has(place)) {
        throw new TorporError("interpreter_busy", `interpreter ${iid} runs something else`, {
          hint: "Wait for it to end, or begin another interpreter.",
        });
      }
      busy.add(place);
      try {
        yield* new Run(desk, guest, session, signal).lines(request);
      } finally {
        busy.delete(place);
      }
    },
  };
}

async function find(guest: GuestUse, iid: string): Promise<GuestSession> {
  const id = iid === "python" || iid === "shell" ? ownInterpreters[iid] : iid;
  const present = await guest.sessions.get(id).catch((error: unknown) => {
    if (id === iid || !(error instanceof TorporError) || error.code !== "session_not_found") throw error;
    return undefined;
  });
  if (present?.end === null) return present;
  if (id === iid) throw new TorporError("session_ended", `interpreter ${iid} has ended`, { hint: "Begin another one." });
  if (present !== undefined) await guest.sessions.remove(id, false);
  return begin(guest, id, iid as InterpreterLanguage);
}

function begin(guest: GuestUse, sessionId: string, language: InterpreterLanguage): Promise<GuestSession> {
  return guest.sessions.start({ sessionId, argv: [...drivers[language]], stdin: true, hold: false });
}

class Run {
  readonly #desk: Desk;
  readonly #guest: GuestUse;
  readonly #session: GuestSession;
  readonly #over = new AbortController();
  readonly #outputs: Readonly<
    Record<"stdout" | "stderr", { readonly marked: MarkedOutput; readonly text: InstanceType<typeof TextDecoder> }>
  >;
  readonly #mark: string;
  readonly #begun = Promise.withResolvers<void>();
  #timedOut = false;

  constructor(desk: Desk, guest: GuestUse, session: GuestSession, signal: AbortSignal | undefined) {
    this.#desk = desk;
    this.#guest = guest;
    this.#session = session;
    this.#mark = desk.ports.tokens.next();
    const output = (begins: boolean) => ({ marked: new MarkedOutput(this.#mark, { begins }), text: new TextDecoder() });
    this.#outputs = { stdout: output(true), stderr: output(false) };
    // Whoever leaves breaks off the reading; the run goes on.
    signal?.addEventListener("abort", () => this.#over.abort(), { once: true });
  }

  async *lines({ code, timeoutMs }: RunCodeRequest): AsyncGenerator<RunLine> {
    const request = requestOf(this.#language(), this.#mark, code);
    if (timeoutMs !== undefined) this.#limit(timeoutMs).catch(() => {});
    const { id, lastSeq } = this.#session;
    try {
      for await (const frame of this.#guest.sessions.attach(id, lastSeq, true, this.#over.signal)) {
        if (frame.type === "started") this.#give(request);
        if (frame.type === "output" && frame.stream !== "terminal") yield* this.#lineOf(frame.stream, frame.data);
        const end = frame.type === "end" ? lost(endedItself(frame.end), this.#timedOut) : this.#end();
        if (end !== undefined) return yield { end };
      }
    } finally {
      this.#over.abort();
    }
  }

  #language(): InterpreterLanguage {
    const { id, argv } = this.#session;
    // A list of arguments that was shortened has no name at its end.
    if (argv.at(-1) === driverName || argv.at(-1) === "…") return argv[0] === drivers.shell[0] ? "shell" : "python";
    throw new TorporError("session_not_found", `session ${id} is not an interpreter`);
  }

  *#lineOf(stream: "stdout" | "stderr", data: Uint8Array): Generator<RunLine> {
    const { marked, text } = this.#outputs[stream];
    const fresh = text.decode(bytesOf(marked.take(data)), { stream: true });
    if (this.#outputs.stdout.marked.begun) this.#begun.resolve();
    if (fresh !== "") yield stream === "stdout" ? { stdout: fresh } : { stderr: fresh };
  }

  #end(): RunEnd | undefined {
    const { stdout, stderr } = this.#outputs;
    if (stdout.marked.outcome === undefined || stderr.marked.outcome === undefined) return undefined;
    return endOf(stdout.marked.outcome, this.#timedOut);
  }

  /** Beside the reading: what does not take its input is still read. */
  #give(data: Uint8Array): void {
    const client = this.#desk.ports.ids.next("se");
    this.#guest.sessions.write(this.#session.id, { client, offset: 0, data, end: false }).catch(() => {});
  }

  async #limit(timeoutMs: number): Promise<void> {
    const { clock } = this.#desk.ports;
    await clock.sleep(timeoutMs, this.#over.signal);
    this.#timedOut = true;
    const { sessions } = this.#guest;
    // Earlier it would be lost, or end an interpreter that is starting.
    await Promise.race([this.#begun.promise, clock.sleep(graceMs, this.#over.signal)]);
    // Once more: a shell that is between two commands heeds none.
    for (let count = 0; count < 2; count++) {
      await sessions.signal(this.#session.id, "INT");
      await clock.sleep(graceMs / 2, this.#over.signal);
    }
    await sessions.signal(this.#session.id, "KILL");
  }
}

/** The run goes on with the sandbox, but nobody is told of it any more. */
function endedItself({ reason, exitCode }: SessionEnd): number | null {
  if (reason !== "paused") return exitCode;
  throw new TorporError("session_paused", "the sandbox was paused during the run, which goes on when it is resumed");
}

const nothing: RunEnd = { result: null, exitCode: null, error: null };
const timeoutError = { name: "TimeoutError", message: "the run took longer than its time limit, and was interrupted", traceback: "" };

/** As the driver tells it; what it says is checked, since the code that it runs could have changed it. */
function endOf(outcome: string, timedOut: boolean): RunEnd {
  const { result, exitCode, error } = parse(outcome);
  const told = {
    result: typeof result === "string" ? result : null,
    exitCode: typeof exitCode === "number" ? exitCode : null,
    error: isError(error) ? { name: error.name, message: error.message, traceback: error.traceback } : null,
  };
  if (!timedOut) return told;
  return { ...told, result: null, error: { ...timeoutError, traceback: told.error?.traceback ?? "" } };
}

function lost(exitCode: number | null, timedOut: boolean): RunEnd {
  const message = timedOut
    ? "the run took longer than its time limit, and could not be interrupted: its variables are lost"
    : "the interpreter ended, and its variables with it";
  return { ...nothing, exitCode, error: { name: timedOut ? "TimeoutError" : "InterpreterEnded", message, traceback: "" } };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytesOf(text)));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isError(value: unknown): value is { name: string; message: string; traceback: string } {
  const error = value as Record<string, unknown> | null;
  return (
    typeof error === "object" && error !== null && [error.name, error.message, error.traceback].every((text) => typeof text === "string")
  );
}
