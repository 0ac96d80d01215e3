import { writeSync } from "node:fs";
import type { LastingEvent, LastingSession, Session, TorporClient } from "@torpor/sdk/calls";
import { DetachKeys } from "./detach-keys.ts";
import { endCode } from "./end-code.ts";
import { failWith, say } from "./failure.ts";
import { outputOf } from "./follow-session.ts";
import { write } from "./leave.ts";
import { rawInput, terminalSize } from "./terminal.ts";
import { TerminalModes } from "./terminal-modes.ts";

export interface Attaching {
  readonly sandbox: string;
  readonly session: Session;
  /** false: only watched. */
  readonly input: boolean;
  readonly detachKeys: Uint8Array;
  readonly after?: number;
  readonly takeover?: boolean;
}

type Last = Extract<LastingEvent, { type: "end" | "kicked" | "failed" }> | { readonly type: "detached" };

/** Connects a session with this process's terminal or streams until it ends or is left; gives the exit code. Cuts of the network are bridged. */
export async function followLasting(client: TorporClient, attaching: Attaching): Promise<number> {
  const { sandbox, session, input, after, takeover } = attaching;
  const lasting = client.lastingSession(sandbox, session.id, {
    mode: input ? "write" : "read",
    ...(after === undefined ? {} : { after }),
    ...(takeover === undefined ? {} : { takeover }),
  });
  const modes = new TerminalModes();
  const { detached, restore } = takeTerminal(lasting, attaching, modes);
  let last: Last;
  try {
    last = await Promise.race([print(lasting, modes, session.terminal), detached]);
  } finally {
    restore();
    lasting.close();
  }
  // Only now: a raw terminal would show its lines as stairs.
  return conclude(last, attaching);
}

async function print(lasting: LastingSession, modes: TerminalModes, terminal: boolean): Promise<Last> {
  const tell = new Notices(terminal);
  for await (const event of lasting) {
    if (event.type === "end" || event.type === "kicked" || event.type === "failed") return event;
    if (event.type === "output") {
      if (terminal) modes.see(event.data);
      await write(outputOf(event), event.data);
    } else tell.of(event);
  }
  throw new Error("a session's events have no end");
}

/** What the user is told beside the output. */
class Notices {
  readonly #raw: boolean;
  #cut = false;

  constructor(raw: boolean) {
    this.#raw = raw;
  }

  of(event: LastingEvent): void {
    if (event.type === "started" && this.#cut) this.#say("connected again");
    if (event.type === "cut" && !this.#cut) this.#say("the connection broke off; trying to come back");
    if (event.type === "gap") this.#say(`output ${event.after + 1} to ${event.oldest - 1} is no longer kept`);
    if (event.type === "mark" && event.mark.end !== null) this.#say(`process ${event.mark.attempt} ended`);
    if (event.type === "started" || event.type === "cut") this.#cut = event.type === "cut";
  }

  /** In a raw terminal lines begin where the last one ended. */
  #say(text: string): void {
    process.stderr.write(this.#raw ? `\r\n[torpor: ${text}]\r\n` : `torpor: ${text}\n`);
  }
}

/** Keys, size and signals go to the session until what it gives is called; whatever ends this process, the terminal is put back. */
function takeTerminal(lasting: LastingSession, { session, input, detachKeys }: Attaching, modes: TerminalModes) {
  const putBack = () => {
    const undo = process.stdout.isTTY === true ? modes.undo() : "";
    if (undo !== "") writeSync(1, undo);
  };
  process.once("exit", putBack);
  const end = (number: number) => process.exit(128 + number);
  // A signal from outside ends this process, not the session: that goes on.
  const handlers = { SIGINT: () => end(2), SIGTERM: () => end(15), SIGHUP: () => end(1) };
  for (const [name, handle] of Object.entries(handlers)) process.on(name, handle);
  const size = () => lasting.resize(terminalSize());
  const unraw = session.terminal && input ? rawInput() : () => {};
  if (session.terminal && input) {
    process.stdout.on("resize", size);
    size();
  }
  return {
    detached: input ? readKeys(lasting, new DetachKeys(detachKeys), session.terminal) : new Promise<never>(() => {}),
    restore: () => {
      process.stdout.removeListener("resize", size);
      for (const [name, handle] of Object.entries(handlers)) process.removeListener(name, handle);
      process.removeListener("exit", putBack);
      putBack();
      unraw();
    },
  };
}

/** Resolves when the keys to detach were typed. The end of a pipe is the end of the input; a terminal that has gone leaves the session as it is. */
async function readKeys(lasting: LastingSession, keys: DetachKeys, terminal: boolean): Promise<Last> {
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    const { data, detach } = terminal ? keys.filter(chunk) : { data: chunk, detach: false };
    if (data.length > 0) await lasting.write(data);
    if (detach) return { type: "detached" };
  }
  if (terminal && process.stdin.isTTY === true) return { type: "detached" };
  lasting.end();
  return new Promise<never>(() => {});
}

function conclude(last: Last, { sandbox, session }: Attaching): number {
  const again = `torpor attach ${sandbox} ${session.id}`;
  switch (last.type) {
    case "detached":
      say(`torpor: detached; the session goes on: ${again}`);
      return 0;
    case "kicked":
      say(`torpor: another client took the session over; take it back with ${again} --takeover`);
      return 1;
    case "failed":
      return failWith(last.error);
    case "end":
      if (last.end.reason !== "paused") return endCode(last.end, sandbox, session.argv[0] ?? "the command");
      say(`torpor: sandbox ${sandbox} was paused; the session goes on after torpor resume ${sandbox}: ${again}`);
      return 1;
  }
}
