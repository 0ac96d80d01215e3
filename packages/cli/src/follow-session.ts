import { once } from "node:events";
import type { ServerFrame, SessionStream, TorporClient } from "@torpor/sdk";
import { endCode } from "./end-code.ts";
import { brokenPipeCode } from "./leave.ts";
import { forwardSignals, type SignalTarget } from "./signals.ts";
import { rawInput, terminalSize } from "./terminal.ts";

export interface Following {
  readonly sandbox: string;
  readonly input: boolean;
  readonly terminal: boolean;
  /** Signals of this process go to the session. Default true; false: they end the watching only. */
  readonly forwardSignals?: boolean;
}

/** Bytes of input in one message. */
const pieceBytes = 256 * 1024;

/** Connects a session with this process's streams until it ends; gives the exit code. */
export async function followSession(client: TorporClient, stream: SessionStream, following: Following): Promise<number> {
  const { sandbox, input, terminal } = following;
  const target: SignalTarget = { client, sandbox, sessionId: undefined };
  const undo: (() => void)[] = [];
  if (following.forwardSignals !== false) undo.push(forwardSignals(target, terminal));
  if (terminal && input) undo.push(rawInput());
  if (terminal) undo.push(followSize(stream));
  let command = "the command";
  try {
    for await (const frame of stream) {
      if (frame.type === "started") {
        target.sessionId = frame.session.id;
        command = frame.session.argv[0] ?? command;
        if (input) sendInput(stream).catch(() => stream.end());
      } else if (frame.type === "output") {
        await show(frame, target);
      } else {
        return endCode(frame.end, sandbox, command);
      }
    }
    return 1;
  } finally {
    for (const restore of undo) restore();
    stream.close();
  }
}

/** Sends what comes in, at the pace that the process takes it, and then its end. */
async function sendInput(stream: SessionStream): Promise<void> {
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; at += pieceBytes) await stream.write(chunk.subarray(at, at + pieceBytes));
  }
  await stream.end();
}

async function show(frame: Extract<ServerFrame, { type: "output" }>, target: SignalTarget): Promise<void> {
  const out = frame.stream === "stderr" ? process.stderr : process.stdout;
  if (out.write(frame.data)) return;
  await Promise.race([once(out, "drain"), once(out, "close")]).catch(() => brokenPipe(target));
}

/** The reader has gone: the command gets what it would get from a pipe of its own. */
async function brokenPipe({ client, sandbox, sessionId }: SignalTarget): Promise<never> {
  if (sessionId !== undefined) await client.signal(sandbox, sessionId, "PIPE").catch(() => {});
  process.exit(brokenPipeCode);
}

function followSize(stream: SessionStream): () => void {
  const tell = () => {
    const { rows, columns } = terminalSize();
    void stream.resize(rows, columns);
  };
  process.stdout.on("resize", tell);
  return () => void process.stdout.removeListener("resize", tell);
}
