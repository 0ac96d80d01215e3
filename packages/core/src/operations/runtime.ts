import { TorporError } from "@torpor/contract";
import type { CheckpointManifest } from "../ports/checkpoints.ts";
import type { RuntimeSpec, RuntimeStatus } from "../ports/engine.ts";
import type { Identity } from "../ports/guest.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";

/** Docker's, for images that set none: people's commands rely on it. */
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** One of a sandbox's runtimes. */
export interface Incarnation {
  readonly runtimeId: string;
  readonly diskId: string;
  /** Of a new sandbox 1, and one more with each runtime. */
  readonly generation: number;
}

/**
 * With its disk made durable beside it, so that this costs no time: no record may name a disk that a power cut takes away. Its guest is greeted as
 * soon as it can hear, while the engine still ends its start.
 */
export async function boot(ports: Ports, sandbox: SandboxRecord, incarnation: Incarnation): Promise<void> {
  await started(ports, sandbox, incarnation, "boot", ports.engine.boot(runtimeSpec(ports, sandbox, incarnation)));
}

export async function restore(
  ports: Ports,
  sandbox: SandboxRecord,
  incarnation: Incarnation,
  origin: "resumed" | "forked",
  manifest: CheckpointManifest,
): Promise<void> {
  const restored = ports.engine.restore(runtimeSpec(ports, sandbox, incarnation), manifest, ports.checkpoints.locate(manifest.id));
  await started(ports, sandbox, incarnation, origin, restored);
}

async function started(
  ports: Ports,
  sandbox: SandboxRecord,
  incarnation: Incarnation,
  origin: "boot" | "resumed" | "forked",
  starting: Promise<void>,
): Promise<void> {
  await allEnded([starting, ports.disks.sync(incarnation.diskId), greetNew(ports, sandbox, incarnation, origin)]);
}

/** Unlike `Promise.all` it fails only when all have ended: an undo must not run beside what it undoes. Of several failures it has the first's. */
export async function allEnded<T extends readonly unknown[]>(works: { readonly [K in keyof T]: Promise<T[K]> }): Promise<T> {
  await Promise.allSettled(works);
  return (await Promise.all(works)) as unknown as T;
}

/** The first word to a running one on a new line, as after a restart of the daemon. */
export function greetRunning(ports: Ports, sandbox: SandboxRecord, runtimeId: string): Promise<void> {
  return greet(ports, sandbox, { runtimeId, generation: sandbox.generation }, "reconnected");
}

/** Tells a runtime who it is; only then is anything else let in. */
async function greet(
  ports: Ports,
  sandbox: SandboxRecord,
  { runtimeId, generation }: Pick<Incarnation, "runtimeId" | "generation">,
  origin: Identity["origin"],
): Promise<void> {
  const image = await ports.images.find(sandbox.image.digest);
  if (image === undefined) throw new TorporError("image_not_found", `image ${sandbox.image.digest} of sandbox ${sandbox.name} is gone`);
  const guest = await ports.engine.guest(runtimeId);
  await guest.hello({
    sandboxId: sandbox.id,
    name: sandbox.name,
    hostname: sandbox.name,
    generation,
    origin,
    env: { PATH: defaultPath, ...image.config.env, ...sandbox.env },
    workdir: sandbox.workdir ?? image.config.workdir ?? "/",
    user: sandbox.user ?? image.config.user ?? "root",
    parentId: sandbox.parentId,
    fork: sandbox.fork ?? null,
    selfControl: (sandbox.selfControl ?? []).length > 0,
    memoryBytes: sandbox.resources.memoryBytes,
    pids: sandbox.resources.pids,
    address: sandbox.address,
    resolver: sandbox.address === null ? null : ports.network.lease(sandbox.address).resolver,
  });
}

/** The first word to a runtime that was just made. One that ended before it could answer is told by what it ended of. */
async function greetNew(
  ports: Ports,
  sandbox: SandboxRecord,
  incarnation: Incarnation,
  origin: "boot" | "resumed" | "forked",
): Promise<void> {
  try {
    await greet(ports, sandbox, incarnation, origin);
  } catch (cause) {
    const status = await statusAfter(ports, incarnation.runtimeId, cause);
    if (status.state !== "ended") throw cause;
    const [code, made] = origin === "boot" ? (["engine_failed", "started"] as const) : (["restore_failed", "restored"] as const);
    throw new TorporError(code, `sandbox ${sandbox.name} ended as soon as it was ${made}: ${status.cause.message}`, { cause });
  }
}

/** The line breaks a moment before the end of the runtime is seen. */
const endLooks = 40;
const lookAgainMs = 50;

async function statusAfter({ engine, clock }: Ports, runtimeId: string, cause: unknown): Promise<RuntimeStatus> {
  const lost = cause instanceof TorporError && cause.code === "sandbox_not_running";
  for (let look = 1; ; look++) {
    const status = await engine.inspect(runtimeId);
    if (status.state !== "running" || !lost || look === endLooks) return status;
    await clock.sleep(lookAgainMs);
  }
}

/** The disk's state as it is now under a new id, even if an earlier attempt wrote to its copy. */
export async function cloneAnew(ports: Ports, sourceId: string, id: string): Promise<void> {
  await ports.disks.remove(id);
  await ports.disks.clone(sourceId, id);
}

/**
 * A disk to which a checkpoint is bound is never written again: who goes on from it does so on a copy. So the disk's id
 * alone says whether memory and files belong together, also after a resume that failed half-way.
 */
export async function readCheckpoint(
  ports: Ports,
  sandbox: SandboxRecord,
  id: string,
  diskId: string,
  ownerId: string,
): Promise<CheckpointManifest> {
  const manifest = await ports.checkpoints.read(id);
  if (manifest === undefined) throw new TorporError("checkpoint_corrupt", `checkpoint ${id} of sandbox ${sandbox.name} is gone`);
  if (manifest.sandboxId !== ownerId) {
    const found = `it is ${manifest.id} of sandbox ${manifest.sandboxId}, not ${id} of sandbox ${ownerId}`;
    throw new TorporError("checkpoint_incompatible", `the checkpoint of sandbox ${sandbox.name} belongs to another sandbox: ${found}`);
  }
  if (manifest.id !== id || manifest.diskId !== diskId) {
    const found = `it is ${manifest.id} of disk ${manifest.diskId}, not ${id} of disk ${diskId}`;
    throw new TorporError("checkpoint_incompatible", `the checkpoint of sandbox ${sandbox.name} belongs to another disk state: ${found}`);
  }
  return manifest;
}

function runtimeSpec(ports: Ports, sandbox: SandboxRecord, { runtimeId, diskId }: Incarnation): RuntimeSpec {
  return {
    runtimeId,
    sandboxId: sandbox.id,
    hostname: sandbox.name,
    disk: ports.disks.locate(diskId),
    image: ports.images.locate(sandbox.image.digest),
    resources: sandbox.resources,
    network: sandbox.address === null ? null : ports.network.lease(sandbox.address),
  };
}
