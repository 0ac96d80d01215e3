import type { SessionEnd, SessionStream, TorporClient } from "@torpor/sdk/calls";
import { endCode } from "./end-code.ts";
import { onBrokenPipe, write } from "./leave.ts";
import { forwardSignals, type SignalTarget } from "./signals.ts";
import { rawInput, terminalSize } from "./terminal.ts";

export interface Following {
  readonly sandbox: string;
  readonly input: boolean;
  readonly terminal: boolean;
  /** false: the session is only watched, and signals end the watching. */
  readonly owns: boolean;
}

/** Bytes of input in one message. */
const pieceBytes = 256 * 1024;

/** Begins a session, and connects it with this process's streams until it ends; gives the exit code. */
export async function followSession(client: TorporClient, begin: () => Promise<SessionStream>, following: Following): Promise<number> {
  const target: SignalTarget = { client, sandbox: following.sandbox, sessionId: undefined };
  const { input, terminal, owns } = following;
  const undo: (() => void)[] = [];
  let ended: Ended | undefined;
  try {
    // Before it begins: a signal that ended this process meanwhile would leave the command running.
    if (owns) {
      undo.push(forwardSignals(target, terminal && input));
      onBrokenPipe(() => breakPipe(target));
    }
    const stream = await begin();
    undo.push(() => stream.close(), ...takeTerminal(stream, following));
    ended = await follow(stream, target, following);
  } finally {
    for (const back of undo.reverse()) back();
  }
  // Only now: a raw terminal would show its lines as stairs.
  return ended === undefined ? 1 : endCode(ended.end, following.sandbox, ended.command);
}

interface Ended {
  readonly end: SessionEnd;
  readonly command: string;
}

async function follow(stream: SessionStream, target: SignalTarget, { input }: Following): Promise<Ended | undefined> {
  let command = "the command";
  for await (const frame of stream) {
    if (frame.type === "end") return { end: frame.end, command };
    if (frame.type === "output") await write(outputOf(frame), frame.data);
    if (frame.type !== "started") continue;
    target.sessionId = frame.session.id;
    target.onStarted?.(frame.session.id);
    command = frame.session.argv[0] ?? command;
    if (input) sendInput(stream).catch(() => stream.end());
  }
  return undefined;
}

/** Where a session's stream goes. */
export const outputOf = ({ stream }: { readonly stream: string }): NodeJS.WriteStream =>
  stream === "stderr" ? process.stderr : process.stdout;

/** The terminal's keys and its size go to the session, until all that it gives are called. */
function takeTerminal(stream: SessionStream, { input, terminal }: Following): (() => void)[] {
  return [...(terminal ? [followSize(stream)] : []), ...(terminal && input ? [rawInput()] : [])];
}

/** Sends what comes in, at the pace that the process takes it, and then its end. */
async function sendInput(stream: SessionStream): Promise<void> {
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; at += pieceBytes) await stream.write(chunk.subarray(at, at + pieceBytes));
  }
  await stream.end();
}

/** This process's reader has gone: the command gets what it would get from a pipe of its own. */
async function breakPipe({ client, sandbox, sessionId }: SignalTarget): Promise<void> {
  if (sessionId !== undefined) await client.signal(sandbox, sessionId, "PIPE").catch(() => {});
}

function followSize(stream: SessionStream): () => void {
  const tell = () => {
    const { rows, columns } = terminalSize();
    void stream.resize(rows, columns);
  };
  process.stdout.on("resize", tell);
  return () => void process.stdout.removeListener("resize", tell);
}
