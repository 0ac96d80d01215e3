import { type ErrorBody, type ForkOrigin, fromErrorBody, type TorporError, toErrorBody } from "@torpor/contract";
import { toTorporError } from "../failure.ts";
import { survivor } from "./aftermath.ts";
import { commitBirth } from "./birth.ts";
import { captureBoth, sealing, thaw, undoCapture } from "./copying.ts";
import { freeze, quiesce } from "./freezing.ts";
import { inherit } from "./inheritance.ts";
import { note, numericNote, type Outcome, optionalNote, type Phase, type Procedure, type Work } from "./procedure.ts";

export interface PlannedChild {
  readonly id: string;
  readonly name: string;
  readonly operationId: string;
}

type Place = Pick<ForkOrigin, "index" | "count">;

interface Child {
  readonly id: string;
  readonly name: string;
  readonly error: ErrorBody["error"] | null;
}

/** Side by side, each with its own operation and outcome. */
const children: Phase = {
  name: "children",
  async run(work) {
    const planned = work.operation.notes.children as readonly PlannedChild[];
    const count = planned.length;
    return { notes: { outcomes: await Promise.all(planned.map((child, i) => makeChild(work, child, { index: i + 1, count }))) } };
  },
};

/** Of a running sandbox: a short freeze in which memory and disk are taken, then the source goes on. */
export const fork: Procedure = {
  kind: "fork",
  phases: [quiesce, freeze, captureBoth, thaw, sealing(false), children],
  commitPoint: "children",
  freeLater: true,
  undo: undoCapture,
  succeed(work) {
    return { ...forked(work), garbage: captured(work) };
  },
  async fail(work, failing) {
    return failing.committed ? { sandbox: {}, events: [], garbage: captured(work) } : survivor(work);
  },
};

/** Of a sandbox without a runtime: its disk and checkpoint stand still already, it isn't woken. */
export const forkAtRest: Procedure = {
  kind: "fork",
  phases: [children],
  commitPoint: "children",
  async undo() {},
  succeed: forked,
  async fail() {
    return { sandbox: {}, events: [] };
  },
};

function captured(work: Work): NonNullable<Outcome["garbage"]> {
  const checkpointId = optionalNote(work, "checkpointId");
  return { disks: [note(work, "fromDiskId")], checkpoints: checkpointId === null ? [] : [checkpointId] };
}

function forked(work: Work): Outcome {
  const outcomes = work.operation.notes.outcomes as readonly Child[];
  const alive = outcomes.filter((child) => child.error === null);
  const result = { children: outcomes, frozenMs: numericNote(work, "frozenMs") };
  const first = outcomes.find((child) => child.error !== null)?.error;
  const type = alive.length === 0 ? "fork.failed" : "sandbox.forked";
  return {
    sandbox: {},
    events: [{ type, data: { children: alive.map(({ id }) => id), failed: outcomes.length - alive.length } }],
    result,
    ...(alive.length === 0 && first ? { error: fromErrorBody({ error: first }) } : {}),
  };
}

async function makeChild(work: Work, child: PlannedChild, place: Place): Promise<Child> {
  const { id, name } = child;
  try {
    const operation = await childOperation(work, child, place);
    return { id, name, error: operation.error };
  } catch (error) {
    const told: TorporError = toTorporError(error);
    return { id, name, error: toErrorBody(told).error };
  }
}

/** Begun by an earlier attempt, or now; the runner joins one that is at work. */
async function childOperation(work: Work, child: PlannedChild, place: Place) {
  const { ports, sandbox, operation } = work;
  const begun = await ports.store.findOperation(child.operationId);
  if (begun !== undefined) {
    const record = await ports.store.findSandbox(child.id);
    return begun.status === "running" && record !== undefined ? work.spawn(record, begun) : begun;
  }
  const born = await commitBirth(ports, {
    sandboxId: child.id,
    operationId: child.operationId,
    actor: operation.actor,
    name: child.name,
    ...inherit(sandbox, operation, place),
    from: { diskId: note(work, "fromDiskId"), checkpointId: optionalNote(work, "checkpointId") },
    request: {},
  });
  return work.spawn(born.sandbox, born.operation);
}
