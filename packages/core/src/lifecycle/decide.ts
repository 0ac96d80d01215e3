import type { Actor, ResumeRequest, TorporError } from "@torpor/contract";
import type { OperationRecord, SandboxRecord } from "../ports/store.ts";
import { crossings } from "./crossings.ts";
import { newOperation } from "./new-operation.ts";
import { busy, noMemoryKept, refusal, unreadable } from "./refusals.ts";
import { type Command, isSettled, transitionalStates, verdicts } from "./states.ts";

export type Decision =
  /** Both records are committed together; then the operation runs. */
  | { readonly type: "begin"; readonly sandbox: SandboxRecord; readonly operation: OperationRecord }
  | { readonly type: "unchanged" }
  /** The same is at work already: its outcome is the answer. */
  | { readonly type: "join"; readonly operation: OperationRecord }
  /** The operation at work has to end first, then decide again. */
  | { readonly type: "wait"; readonly operation: OperationRecord }
  /** As `wait`, and it is told to give up. */
  | { readonly type: "supersede"; readonly operation: OperationRecord }
  | { readonly type: "refused"; readonly error: TorporError };

export interface Asked {
  readonly command: Command;
  readonly request: Readonly<Record<string, unknown>>;
  readonly actor: Actor;
  readonly operationId: string;
  readonly phase: string;
  readonly notes: Readonly<Record<string, unknown>>;
}

/** What a command does to a sandbox, without doing it. */
export function decide(sandbox: SandboxRecord, active: OperationRecord | undefined, asked: Asked, now: Date): Decision {
  if (sandbox.damage !== undefined) return damaged(sandbox, asked, now);
  if (active !== undefined) return whileBusy(sandbox, active, asked);
  if (!isSettled(sandbox.state)) return astray(sandbox, asked, now);
  const verdict = verdicts[asked.command][sandbox.state];
  if (verdict === "unchanged") return { type: "unchanged" };
  const error = verdict === "begin" ? undefined : verdict === "refuse" ? refusal(sandbox, asked.command) : objection(sandbox, asked);
  return error === undefined ? begin(sandbox, asked, now) : { type: "refused", error };
}

/** A transitional state without its operation is no work of ours (a record edited by hand): it can be removed, and nothing else. */
function astray(sandbox: SandboxRecord, asked: Asked, now: Date): Decision {
  return asked.command === "remove" ? begin(sandbox, asked, now) : { type: "refused", error: refusal(sandbox, asked.command) };
}

/** Of what is wrong with it nothing can be known, so it is left as it is, or removed as a whole. */
function damaged(sandbox: SandboxRecord, asked: Asked, now: Date): Decision {
  return asked.command === "remove" && asked.request.force === true
    ? begin(sandbox, asked, now)
    : { type: "refused", error: unreadable(sandbox, sandbox.damage?.field ?? "record") };
}

function whileBusy(sandbox: SandboxRecord, active: OperationRecord, asked: Asked): Decision {
  const { command, request } = asked;
  switch (crossings[active.kind][command]) {
    case "join":
      return { type: "join", operation: active };
    case "join if same":
      return isSame(active, asked) ? { type: "join", operation: active } : { type: "refused", error: busy(sandbox, active) };
    case "wait":
      return { type: "wait", operation: active };
    case "supersede": {
      const ending = active.kind === "stop" || sandbox.state === "stopped" || sandbox.state === "failed";
      if (!ending && request.force !== true) return { type: "refused", error: refusal(sandbox, "remove") };
      return { type: "supersede", operation: active };
    }
    default:
      return { type: "refused", error: busy(sandbox, active) };
  }
}

const memoryByDefault: Partial<Readonly<Record<Command, unknown>>> = { pause: true, resume: "prefer" };

/** The same pause keeps the same, the same resume or restore brings the same back. */
function isSame(active: OperationRecord, { command, request }: Asked): boolean {
  const byDefault = memoryByDefault[command];
  const same = (field: string) => active.request[field] === request[field];
  return (active.request.memory ?? byDefault) === (request.memory ?? byDefault) && same("snapshot") && same("image");
}

/** What speaks against it, of what the state alone does not decide. */
function objection(sandbox: SandboxRecord, asked: Asked): TorporError | undefined {
  switch (asked.command) {
    case "remove":
      return asked.request.force === true ? undefined : refusal(sandbox, "remove");
    case "resume":
      return objectionToResume(sandbox, asked.request as ResumeRequest);
    default:
      return objectionToCopy(sandbox, asked);
  }
}

function objectionToResume(sandbox: SandboxRecord, { memory }: ResumeRequest): TorporError | undefined {
  if (sandbox.checkpoint !== null) return undefined;
  // A pause that could not free its runtime ends as failed, with its memory kept; other failed ones have none.
  if (sandbox.state === "failed") return refusal(sandbox, "resume");
  return memory === "require" ? noMemoryKept(sandbox, `resume it with torpor resume ${sandbox.name} for a fresh boot`) : undefined;
}

/** Of one at rest: its memory is what a pause kept. */
function objectionToCopy(sandbox: SandboxRecord, { command, request }: Asked): TorporError | undefined {
  if (request.memory === false) return undefined;
  if (sandbox.state !== "paused") return refusal(sandbox, command);
  return sandbox.checkpoint === null ? noMemoryKept(sandbox, `${command} it with --files-only`) : undefined;
}

function begin(sandbox: SandboxRecord, asked: Asked, now: Date): Decision {
  const at = now.toISOString();
  const state = transitionalStates[asked.command];
  const shown = state === null ? {} : { state, updatedAt: at };
  return {
    type: "begin",
    sandbox: { ...sandbox, ...shown, operationId: asked.operationId },
    operation: newOperation(at, {
      id: asked.operationId,
      kind: asked.command,
      sandboxId: sandbox.id,
      phase: asked.phase,
      actor: asked.actor,
      request: asked.request,
      // What the sandbox was, for the way back.
      notes: { ...asked.notes, prior: sandbox.state },
    }),
  };
}
