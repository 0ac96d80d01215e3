import { type ExecRequest, type ExecResult, TorporError } from "@torpor/contract";
import type { GuestSessions, SessionFrame } from "@torpor/core";
import { Tail } from "./tail.ts";

/** What is kept of each stream, in bytes. */
const keptBytes = 8 * 1024 * 1024;

/** Runs a command to its end and gathers its output. */
export async function runToEnd(
  sessions: GuestSessions,
  request: ExecRequest & { sessionId: string },
  signal: AbortSignal,
): Promise<ExecResult> {
  const { input, ...start } = request;
  const { sessionId } = request;
  const frames = sessions.run({ ...start, stdin: input !== undefined, hold: true }, signal);
  return gather(sessionId, frames, () => {
    if (input !== undefined) feed(sessions, sessionId, Buffer.from(input, "base64"));
  });
}

/** The same of one that was started before: what is kept of its output, then the rest. */
export function readToEnd(sessions: GuestSessions, sessionId: string, signal: AbortSignal): Promise<ExecResult> {
  return gather(sessionId, sessions.attach(sessionId, 0, true, signal), () => {});
}

async function gather(sessionId: string, frames: AsyncIterable<SessionFrame>, started: () => void): Promise<ExecResult> {
  const stdout = new Tail(keptBytes);
  const stderr = new Tail(keptBytes);
  let lastSeq = 0;
  for await (const frame of frames) {
    if (frame.type === "started") started();
    else if (frame.type === "output") {
      (frame.stream === "stderr" ? stderr : stdout).add(frame.data);
      lastSeq = frame.seq;
    } else if (frame.type === "end") {
      return {
        sessionId,
        end: frame.end,
        stdout: stdout.text("base64"),
        stderr: stderr.text("base64"),
        lostBytes: stdout.lostBytes + stderr.lostBytes,
        lastSeq,
      };
    }
  }
  throw new TorporError("internal", `the output of session ${sessionId} broke off`, { hint: "Attach to the session to see the rest." });
}

/** Input beside output: a process may end, or close its input, without having read it all, which is no failure. */
function feed(sessions: GuestSessions, sessionId: string, input: Uint8Array): void {
  sessions.write(sessionId, { client: "", offset: 0, data: input, end: true }).catch(() => {});
}
