import { type RebaseRequest, type RestoreRequest, TorporError } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import { requireRoom } from "../capacity.ts";
import { nothing } from "../lifecycle/holding.ts";
import { imageMissing } from "../lifecycle/refusals.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { findSnapshot, settleMemory } from "../snapshot-use.ts";
import { checkFits } from "../validation.ts";
import type { Plan } from "./plan-shape.ts";

/** What the snapshot is when the operation begins stands in its notes: it can't be removed as long as that is at work. */
export async function planRestore(ports: Ports, sandbox: SandboxRecord, request: Readonly<Record<string, unknown>>): Promise<Plan> {
  const { snapshot: idOrName, memory: asked } = request as RestoreRequest;
  const snapshot = await findSnapshot(ports, idOrName);
  const memory = settleMemory(ports, snapshot, asked);
  if (memory && snapshot.network !== sandbox.network) {
    throw new TorporError(
      "checkpoint_incompatible",
      `the memory in snapshot ${snapshot.name} knows the network as ${snapshot.network}, sandbox ${sandbox.name} has ${sandbox.network}`,
      { hint: "restore its files only, or make a new sandbox from the snapshot" },
    );
  }
  checkFits(ports, snapshot.resources);
  const more = snapshot.resources.diskBytes - sandbox.resources.diskBytes;
  if (more > 0) await requireRoom(ports, teamOf(sandbox), { ...nothing, diskBytes: more, sandboxes: 0 });
  return {
    notes: {
      snapshotId: snapshot.id,
      snapshotName: snapshot.name,
      fromDiskId: snapshot.diskId,
      fromCheckpointId: memory ? (snapshot.checkpoint?.id ?? null) : null,
      fromOwnerId: snapshot.source.id,
      image: snapshot.image,
      resources: snapshot.resources,
      diskId: ports.ids.next("dk"),
      checkpointId: memory ? ports.ids.next("ck") : null,
    },
    uses: snapshot,
  };
}

export async function planRebase(ports: Ports, sandbox: SandboxRecord, request: Readonly<Record<string, unknown>>): Promise<Plan> {
  const { image: reference } = request as RebaseRequest;
  const image = await ports.images.find(reference);
  if (image === undefined) throw imageMissing(reference);
  if (image.digest === sandbox.image.digest) {
    throw new TorporError("invalid_request", `sandbox ${sandbox.name} lies over image ${reference} (${image.digest}) already`);
  }
  const snapshotId = ports.ids.next("sn");
  return {
    notes: {
      snapshotId,
      // As long as a name may be, whatever the sandbox is called.
      name: `${sandbox.name.slice(0, 37)}-before-${snapshotId.slice(-16)}`,
      fromDiskId: ports.ids.next("dk"),
      checkpointId: sandbox.checkpoint === null ? null : ports.ids.next("ck"),
      image: { reference, digest: image.digest },
      imageDigest: image.digest,
    },
  };
}
