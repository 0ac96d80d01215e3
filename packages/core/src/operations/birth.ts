import {
  type Actor,
  type CreateSandboxRequest,
  type NetworkMode,
  type Resources,
  type RestartPolicy,
  type SelfVerb,
  type TimeSettings,
  TorporError,
} from "@torpor/contract";
import { refusedBy } from "../capacity.ts";
import { askedBy } from "../lifecycle/holding.ts";
import { newOperation } from "../lifecycle/new-operation.ts";
import { nameTaken } from "../lifecycle/refusals.ts";
import type { Ports } from "../ports/ports.ts";
import { type Change, type KeyRecord, type OperationRecord, type SandboxRecord, StoreConflict } from "../ports/store.ts";
import { bornAt } from "../time/instants.ts";

/** Who makes it, and whose it becomes. */
export interface Maker {
  readonly actor: Actor;
  readonly team: string;
}

/** Everything that a new sandbox is, before it has a place. */
export interface Draft extends Maker {
  readonly sandboxId: string;
  readonly operationId: string;
  readonly name: string;
  readonly image: SandboxRecord["image"];
  readonly resources: Resources;
  readonly env: SandboxRecord["env"];
  readonly workdir: string | null;
  readonly user: string | null;
  readonly network: NetworkMode;
  readonly labels: SandboxRecord["labels"];
  readonly restart?: RestartPolicy;
  readonly selfControl?: SelfVerb[];
  readonly time: TimeSettings;
  readonly parentId: string | null;
  readonly fork: SandboxRecord["fork"];
  readonly from: { readonly diskId: string; readonly checkpointId: string | null } | null;
  readonly request: Partial<CreateSandboxRequest>;
  readonly snapshotId?: string;
  /** Operations of the others that one call makes. */
  readonly siblings?: readonly string[];
}

export interface Born {
  readonly sandbox: SandboxRecord;
  readonly operation: OperationRecord;
}

/** Another process may take the same free address at the same time; each round one of them gets through. */
const addressTries = 256;

/** Writes the record and its create operation, with an address that nobody else has. */
export async function commitBirth(ports: Ports, draft: Draft, keys: readonly KeyRecord[] = []): Promise<Born> {
  const [born] = await commitBirths(ports, [draft], { keys });
  return born as Born;
}

/** All of them or none. A `StoreConflict` of the kind stale says that the snapshot moved on. */
export async function commitBirths(
  ports: Ports,
  drafts: readonly Draft[],
  beside: Pick<Change, "keys" | "snapshots">,
): Promise<readonly Born[]> {
  for (let tries = 1; tries <= addressTries; tries++) {
    const born = await bearAll(ports, drafts);
    const conflict = await commitOnce(ports, born, beside);
    if (conflict === null)
      return born.map(({ sandbox, operation }) => ({ sandbox: { ...sandbox, version: 1 }, operation: { ...operation, version: 1 } }));
    if (conflict.kind === "name") throw nameTaken(await takenOf(ports, drafts));
    if (conflict.kind === "capacity") throw refusedBy(conflict, askedBy(drafts), ports);
    if (conflict.kind !== "address") throw conflict;
  }
  throw new TorporError("capacity_exceeded", "others took every free address first: retry");
}

async function commitOnce(ports: Ports, born: readonly Born[], beside: Pick<Change, "keys" | "snapshots">): Promise<StoreConflict | null> {
  try {
    await ports.store.commit({
      ...beside,
      within: ports.node.capacity,
      sandboxes: born.map(({ sandbox }) => sandbox),
      operations: born.map(({ operation }) => operation),
    });
    return null;
  } catch (error) {
    if (error instanceof StoreConflict) return error;
    throw error;
  }
}

async function takenOf({ store }: Ports, drafts: readonly Draft[]): Promise<string> {
  for (const { name } of drafts) if ((await store.findSandbox(name)) !== undefined) return name;
  return drafts[0]?.name ?? "";
}

async function bearAll(ports: Ports, drafts: readonly Draft[]): Promise<Born[]> {
  const taken = new Set<string>();
  for (const { address } of await ports.store.listSandboxes()) if (address !== null) taken.add(address);
  return drafts.map((draft) => {
    const address = draft.network === "none" ? null : ports.network.allocate(taken);
    if (address !== null) taken.add(address);
    return bear(ports, draft, address);
  });
}

function bear(ports: Ports, draft: Draft, address: string | null): Born {
  const now = ports.clock.now();
  const at = now.toISOString();
  const { sandboxId, operationId, from, actor, request, siblings, time, ...kept } = draft;
  const diskId = ports.ids.next("dk");
  const notes = {
    runtimeId: ports.ids.next("rt"),
    diskId,
    ...(from === null ? {} : { fromDiskId: from.diskId, fromCheckpointId: from.checkpointId }),
    // So that it can't be removed meanwhile, and that the others are found by who asks again.
    ...(draft.snapshotId === undefined ? {} : { snapshotId: draft.snapshotId, siblings }),
  };
  return {
    sandbox: {
      ...kept,
      ...time,
      ...bornAt(time, now),
      id: sandboxId,
      version: 0,
      state: "creating",
      engine: ports.engine.name,
      address,
      generation: 0,
      runtimeId: null,
      diskId,
      operationId,
      checkpoint: null,
      restored: null,
      failure: null,
      createdAt: at,
      startedAt: null,
      pausedAt: null,
      stoppedAt: null,
      updatedAt: at,
    },
    operation: newOperation(at, {
      id: operationId,
      kind: "create",
      sandboxId,
      // An image that is here needs no phase of its own.
      phase: draft.image.digest === "" ? "image" : "disk",
      actor,
      request,
      notes,
    }),
  };
}
