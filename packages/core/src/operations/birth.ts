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
import { newOperation } from "../lifecycle/new-operation.ts";
import { nameTaken } from "../lifecycle/refusals.ts";
import type { Ports } from "../ports/ports.ts";
import { type KeyRecord, type OperationRecord, type SandboxRecord, StoreConflict } from "../ports/store.ts";
import { bornAt } from "../time/instants.ts";

/** Everything that a new sandbox is, before it has a place. */
export interface Draft {
  readonly sandboxId: string;
  readonly operationId: string;
  readonly actor: Actor;
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
}

export interface Born {
  readonly sandbox: SandboxRecord;
  readonly operation: OperationRecord;
}

/** Another process may take the same free address at the same time; each round one of them gets through. */
const addressTries = 256;

/** Writes the record and its create operation, with an address that nobody else has. */
export async function commitBirth(ports: Ports, draft: Draft, keys: readonly KeyRecord[] = []): Promise<Born> {
  for (let tries = 1; tries <= addressTries; tries++) {
    const born = await bear(ports, draft);
    const conflict = await commitOnce(ports, born, keys);
    if (conflict === null) return { sandbox: { ...born.sandbox, version: 1 }, operation: { ...born.operation, version: 1 } };
    if (conflict.kind === "name") throw nameTaken(draft.name);
    if (conflict.kind === "capacity") throw refusedBy(conflict, draft.resources, ports);
    if (conflict.kind !== "address") throw conflict;
  }
  throw new TorporError("capacity_exceeded", "others took every free address first: retry");
}

async function commitOnce(ports: Ports, { sandbox, operation }: Born, keys: readonly KeyRecord[]): Promise<StoreConflict | null> {
  try {
    await ports.store.commit({ sandboxes: [sandbox], operations: [operation], keys, within: ports.node.capacity });
    return null;
  } catch (error) {
    if (error instanceof StoreConflict) return error;
    throw error;
  }
}

async function bear(ports: Ports, draft: Draft): Promise<Born> {
  const now = ports.clock.now();
  const at = now.toISOString();
  const { sandboxId, operationId, from, actor, request, time, ...kept } = draft;
  const diskId = ports.ids.next("dk");
  const notes = {
    runtimeId: ports.ids.next("rt"),
    diskId,
    ...(from === null ? {} : { fromDiskId: from.diskId, fromCheckpointId: from.checkpointId }),
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
      address: draft.network === "none" ? null : await freeAddress(ports),
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

async function freeAddress(ports: Ports): Promise<string> {
  const taken = new Set<string>();
  for (const { address } of await ports.store.listSandboxes()) if (address !== null) taken.add(address);
  return ports.network.allocate(taken);
}
