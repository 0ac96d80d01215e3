import { type CreateSandboxRequest, TorporError } from "@torpor/contract";
import type { Asking } from "./asking.ts";
import type { Desk } from "./desk.ts";
import type { KeyFor } from "./idempotency.ts";
import { nameTaken } from "./lifecycle/refusals.ts";
import { type Born, commitBirths, type Draft, type Maker } from "./operations/birth.ts";
import { planChildren } from "./operations/plan.ts";
import type { Ports } from "./ports/ports.ts";
import { type SnapshotRecord, StoreConflict } from "./ports/store.ts";
import { findSnapshot, settleMemory } from "./snapshot-use.ts";
import { checkSettings, settingsOf } from "./time/settings.ts";
import { checkFits, requireCapability } from "./validation.ts";

/** Looks again when somebody changed the snapshot in between; more often than that is a fault. */
const tries = 100;

/** Begins the making of one or more sandboxes from a snapshot: of all of them or of none, afterwards each by itself. */
export async function createFromSnapshot(desk: Desk, request: CreateSandboxRequest, by: Maker, keyFor: KeyFor): Promise<Asking> {
  const { ports, runner } = desk;
  await requireCapability(ports, "create");
  const born = await begin(ports, request, by, keyFor);
  const ends = born.map(({ sandbox, operation }) => runner.run(sandbox, operation));
  const [first] = born as [Born];
  return { sandboxId: first.sandbox.id, operation: first.operation, ended: ends[0] };
}

async function begin(ports: Ports, request: CreateSandboxRequest, by: Maker, keyFor: KeyFor): Promise<readonly Born[]> {
  for (let left = tries; ; left--) {
    const snapshot = await findSnapshot(ports, request.snapshot ?? "");
    const drafts = await draftsOf(ports, snapshot, request, by);
    const keys = keyFor(drafts[0]?.operationId ?? "");
    try {
      return await commitBirths(ports, drafts, { keys, snapshots: [snapshot] });
    } catch (error) {
      if (!(error instanceof StoreConflict && error.kind === "stale") || left === 1) throw error;
    }
  }
}

async function draftsOf(ports: Ports, snapshot: SnapshotRecord, request: CreateSandboxRequest, by: Maker): Promise<readonly Draft[]> {
  const memory = settleMemory(ports, snapshot, request.memory);
  if (memory) await requireCapability(ports, "resume");
  const { image, resources, source } = snapshot;
  const { env, workdir, user, network, labels, restart, selfControl, name, count } = request;
  if (memory && network !== undefined && network !== snapshot.network) {
    throw new TorporError("checkpoint_incompatible", `the memory in snapshot ${snapshot.name} knows the network as ${snapshot.network}`, {
      hint: "leave the network as it is, or take the snapshot's files only",
    });
  }
  const time = settingsOf(request);
  await checkSettings(ports, time);
  checkFits(ports, resources);
  const planned = planChildren(ports, { ...(name === undefined ? {} : { name }), ...(count === undefined ? {} : { count }) });
  for (const child of planned) if ((await ports.store.findSandbox(child.name)) !== undefined) throw nameTaken(child.name);
  return planned.map((child) => ({
    sandboxId: child.id,
    operationId: child.operationId,
    ...by,
    name: child.name,
    image,
    resources,
    env: { ...snapshot.env, ...env },
    workdir: workdir ?? snapshot.workdir,
    user: user ?? snapshot.user,
    network: network ?? snapshot.network,
    labels: labels ?? {},
    ...(restart === undefined ? {} : { restart }),
    ...(selfControl === undefined ? {} : { selfControl }),
    parentId: source.id,
    fork: null,
    time,
    snapshotId: snapshot.id,
    siblings: planned.filter(({ id }) => id !== child.id).map(({ operationId }) => operationId),
    from: { diskId: snapshot.diskId, checkpointId: memory ? (snapshot.checkpoint?.id ?? null) : null },
    request,
  }));
}
