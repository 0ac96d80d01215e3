import { z } from "zod";
import { Environment } from "./sandbox.ts";

export const TerminalSize = z.strictObject({ rows: z.number().int().min(1).max(10_000), columns: z.number().int().min(1).max(10_000) });

export const StartSessionRequest = z.strictObject({
  /** The program and its arguments; nothing is a shell unless you name one. */
  argv: z.array(z.string()).min(1, "a command is needed: the program and its arguments").max(10_000),
  env: Environment.optional(),
  workdir: z.string().min(1).max(4096).optional(),
  user: z.string().min(1).max(128).optional(),
  /** Give it an input. Default false: /dev/null. */
  stdin: z.boolean().optional(),
  terminal: TerminalSize.extend({ term: z.string().max(64).optional() }).optional(),
  /** Time limit of running time; a pause does not count. Default none. */
  timeoutMs: z.number().int().positive().max(2_592_000_000).optional(),
});
export type StartSessionRequest = z.infer<typeof StartSessionRequest>;

export const SessionEnd = z.object({
  /** exited, timeout, oom, killed by the guest; paused, stopped, lost by the runtime's end. */
  reason: z.enum(["exited", "timeout", "oom", "killed", "paused", "stopped", "lost"]),
  /** As a shell has it: 128 + signal for a death by signal. null when it did not end by itself. */
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  oom: z.boolean(),
});
export type SessionEnd = z.infer<typeof SessionEnd>;

export const Session = z.object({
  id: z.string(),
  argv: z.array(z.string()),
  pid: z.number().int(),
  terminal: z.boolean(),
  user: z.string(),
  workdir: z.string(),
  startedAt: z.iso.datetime(),
  firstSeq: z.number().int(),
  lastSeq: z.number().int(),
  end: SessionEnd.nullable(),
});
export type Session = z.infer<typeof Session>;
export const SessionList = z.object({ sessions: z.array(Session) });

/** POST …/exec: run to the end and answer with the output, at most 8 MiB of each stream. */
export const ExecRequest = StartSessionRequest.omit({ stdin: true, terminal: true }).extend({
  /** Input, base64. */
  input: z.base64().optional(),
});
export type ExecRequest = z.infer<typeof ExecRequest>;
export const ExecResult = z.object({
  sessionId: z.string(),
  end: SessionEnd,
  /** base64 */
  stdout: z.string(),
  stderr: z.string(),
  /** Bytes over the limit that were dropped from the start. */
  lostBytes: z.number().int(),
});
export type ExecResult = z.infer<typeof ExecResult>;

export const SignalRequest = z.strictObject({ signal: z.string().min(1).max(16) });
