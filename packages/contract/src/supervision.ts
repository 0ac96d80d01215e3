import { z } from "zod";
import { SessionEnd, StartSessionRequest, UnsupervisedSession } from "./session.ts";

const durationMs = z.number().int().max(86_400_000);

/** When the process counts as ready: a command that exits with 0, or a port of the sandbox that takes connections. */
export const Readiness = z.strictObject({
  argv: z.array(z.string()).min(1).max(1000).optional(),
  port: z.number().int().min(1).max(65_535).optional(),
  /** A process that is not ready by then is ended, which counts as a failure. Default 30 s. */
  timeoutMs: durationMs.min(1).optional(),
  /** Between two looks. Default 500 ms. */
  intervalMs: durationMs.min(10).optional(),
});

/** How a session's process is kept running. */
export const Supervise = z.strictObject({
  /** Default on-failure: after any end but exit code 0. */
  restart: z.enum(["never", "on-failure", "always"]).optional(),
  /** More restarts than this within `windowMs`, and it is given up as `failed`. Default 5 within 60 s. */
  maxRestarts: z.number().int().min(0).max(10_000).optional(),
  windowMs: durationMs.min(1).optional(),
  /** Before the first restart; each further one within the window waits twice as long, at most a minute. Default 1 s. */
  backoffMs: durationMs.min(0).optional(),
  readiness: Readiness.refine(
    ({ argv, port }) => (argv === undefined) !== (port === undefined),
    "give argv or port, one of them",
  ).optional(),
  /** Once the sandbox runs again without its memory: begin a new process (the default), or leave it stopped. With its memory the same process goes on. */
  runtimeRecovery: z.enum(["restart", "stop"]).optional(),
  /** When the sandbox stops, those with a lower number are stopped first, those with the same at the same time. Default 0. */
  stopOrder: z.number().int().min(-1000).max(1000).optional(),
  /** Between TERM and KILL. Default 10 s. */
  stopGraceMs: durationMs.min(0).optional(),
});
export type Supervise = z.infer<typeof Supervise>;

/** POST …/sessions. */
export const BeginSessionRequest = StartSessionRequest.extend({
  /** Left out only with `command: "image"`. */
  argv: StartSessionRequest.shape.argv.optional(),
  /** Its image's ENTRYPOINT and CMD in place of `argv`. */
  command: z.literal("image").optional(),
  supervise: Supervise.optional(),
}).refine(({ argv, command }) => (argv === undefined) !== (command === undefined), "give argv, or command: image, one of them");
export type BeginSessionRequest = z.infer<typeof BeginSessionRequest>;

/** What a supervised session is doing. */
export const Supervision = z.object({
  desired: z.enum(["running", "stopped"]),
  /** starting: its process runs and is not ready yet; backoff: the next one begins at `nextAt`; failed: given up, see `reason`. */
  state: z.enum(["starting", "ready", "backoff", "stopped", "failed"]),
  /** Which process it has, or had last; 0: none yet. */
  attempt: z.number().int(),
  /** Restarts within the window. */
  restarts: z.number().int(),
  nextAt: z.iso.datetime().nullable(),
  lastEnd: SessionEnd.nullable(),
  reason: z.string().nullable(),
  policy: Supervise,
});
export type Supervision = z.infer<typeof Supervision>;

export const Session = UnsupervisedSession.extend({
  /** Only of a supervised one: `end` stays null as long as it is there. */
  supervision: Supervision.optional(),
});
export type Session = z.infer<typeof Session>;
export const SessionList = z.object({ sessions: z.array(Session) });
