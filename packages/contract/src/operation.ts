import { z } from "zod";
import { ErrorBody } from "./error-body.ts";
import { Sandbox } from "./sandbox.ts";

export const OperationKind = z.enum(["create", "pause", "resume", "fork", "stop", "start", "remove", "snapshot", "restore", "rebase"]);
export type OperationKind = z.infer<typeof OperationKind>;

export const OperationStatus = z.enum(["running", "succeeded", "failed"]);
export type OperationStatus = z.infer<typeof OperationStatus>;

/**
 * Who asked: a caller, a process in the sandbox (self), or Torpor itself: a sandbox's ttl, a call that woke it, a wake, the daemon's start (which finishes or
 * undoes what an earlier one had begun), a budget, or the engine, whose runtime ended.
 */
export const Actor = z.enum(["user", "self", "ttl", "autoResume", "wake", "recovery", "budget", "engine"]);
export type Actor = z.infer<typeof Actor>;

/** One durable lifecycle transaction, as clients see it. */
export const Operation = z.object({
  id: z.string(),
  kind: OperationKind,
  sandboxId: z.string(),
  status: OperationStatus,
  phase: z.string(),
  attempt: z.number().int(),
  /** Whether `POST /v1/operations/{oid}/cancel` can still undo it. */
  cancelable: z.boolean(),
  actor: Actor,
  /** First cause of a failure. */
  error: ErrorBody.shape.error.nullable(),
  /** Facts about the outcome: bytes, times of phases, children, what was restored. */
  result: z.record(z.string(), z.unknown()),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
});
export type Operation = z.infer<typeof Operation>;

export const OperationList = z.object({ operations: z.array(Operation) });

/** Answer of a mutating call: 200 when the operation has ended within `?wait=`, 202 when it goes on. */
export const OperationAnswer = z.object({
  operation: Operation,
  sandbox: Sandbox.nullable(),
  /** Of a create with `count`: all others that it began, each with its own outcome. */
  siblings: z.array(z.object({ operation: Operation, sandbox: Sandbox.nullable() })).optional(),
});
export type OperationAnswer = z.infer<typeof OperationAnswer>;

/** `result` of a pause. */
export const PauseResult = z.object({
  memory: z.boolean(),
  /** Memory that the runtime held and that is free now. */
  releasedBytes: z.number(),
  checkpointBytes: z.number(),
});
/** `result` of a resume. */
export const ResumeResult = z.object({ restored: z.enum(["memory", "files"]), reason: z.string().optional() });
/** `result` of a fork: one entry a child, each its own outcome. */
export const ForkResult = z.object({
  children: z.array(z.object({ id: z.string(), name: z.string(), error: ErrorBody.shape.error.nullable() })),
  frozenMs: z.number(),
});
