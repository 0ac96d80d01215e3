import { z } from "zod";
import { Environment } from "./sandbox.ts";

export const TerminalSize = z.strictObject({ rows: z.number().int().min(1).max(10_000), columns: z.number().int().min(1).max(10_000) });
export type TerminalSize = z.infer<typeof TerminalSize>;

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
  /** Output that is kept for replay, in bytes. Default 1 MiB. Older output is dropped, and asking for it is refused with `session_output_gone`. */
  journalBytes: z.number().int().min(4096).max(67_108_864).optional(),
  /** So long after its end it is kept, of running time. Default: as long as it is among the newest 64 that ended, and all their output below 32 MiB. */
  keepMs: z.number().int().positive().max(2_592_000_000).optional(),
});
export type StartSessionRequest = z.infer<typeof StartSessionRequest>;

export const SessionEnd = z.object({
  /**
   * exited, timeout, oom, killed: it ended, and the sandbox went on. stopped: it ended with a stop, a removal or a pause of files only, that is at any
   * time between the request and the runtime's end, by itself too; its time limit and its memory keep their names. paused: it goes on after the resume. lost:
   * the runtime ended, or the line to it broke.
   */
  reason: z.enum(["exited", "timeout", "oom", "killed", "paused", "stopped", "lost"]),
  /** As a shell has it: 128 + signal for a death by signal. null where nobody saw its end: always for paused and lost, at times for stopped. */
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  oom: z.boolean(),
});
export type SessionEnd = z.infer<typeof SessionEnd>;

export const UnsupervisedSession = z.object({
  id: z.string(),
  argv: z.array(z.string()),
  pid: z.number().int(),
  terminal: z.boolean(),
  user: z.string(),
  workdir: z.string(),
  startedAt: z.iso.datetime(),
  firstSeq: z.number().int(),
  lastSeq: z.number().int(),
  /** Of its terminal, as it was set last; null: it has none. */
  size: TerminalSize.nullable(),
  end: SessionEnd.nullable(),
});

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
  /** Of the last output that is in it: attached after it, one gets what comes after a pause. */
  lastSeq: z.number().int(),
});
export type ExecResult = z.infer<typeof ExecResult>;

export const SignalRequest = z.strictObject({ signal: z.string().min(1).max(16) });

/** In the output of a supervised session: where its process ended, or another one began. */
export const SessionMark = z.object({
  /** Which process of the session, from 1 on. */
  attempt: z.number().int(),
  /** Of the one that begins here; null: it ended here. */
  pid: z.number().int().nullable(),
  end: SessionEnd.nullable(),
});
export type SessionMark = z.infer<typeof SessionMark>;

/** Data of an event `output` when a session is read as server-sent events; the event's id is `seq`. */
export const SessionOutput = z.object({ seq: z.number().int(), stream: z.enum(["stdout", "stderr", "terminal"]), data: z.base64() });
export type SessionOutput = z.infer<typeof SessionOutput>;

/** How much of a client's input the process has. */
export const InputTaken = z.object({ taken: z.number().int() });
export type InputTaken = z.infer<typeof InputTaken>;

/** A client's own name for itself, so that its input is told from others' and from its own repeats. */
export const ClientId = z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, _, . and - are needed");
