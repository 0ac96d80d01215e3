import type { Resources } from "@torpor/contract";
import type { CheckpointManifest, Checkpoints } from "../ports/checkpoints.ts";
import type { Disks } from "../ports/disks.ts";
import type { CaptureOptions, Engine, RuntimeSpec } from "../ports/engine.ts";
import type { Guest, Identity, SessionFrame } from "../ports/guest.ts";
import type { Ids } from "../ports/ids.ts";
import type { NetworkLease } from "../ports/network.ts";

/** What the engine's suite needs of the world around it. Made anew for each test. */
export interface EngineHarness {
  readonly engine: Engine;
  readonly disks: Disks;
  readonly checkpoints: Checkpoints;
  readonly ids: Ids;
  /** A root file system with a shell, as `Images.locate` gives it. */
  readonly image: { readonly location: string; readonly digest: string };
  readonly resources: Resources;
  readonly network: NetworkLease | null;
  /** Prints 1, 2, 3, … a line each, kept in memory only. */
  readonly counter: readonly string[];
  /** Gives back on a port of its loopback what it gets there, connection by connection. */
  echoServer(port: number): readonly string[];
  /** Lets a running counter print about so many lines. */
  advance(lines: number): Promise<void>;
  /** The time, in lines that a counter can print in it. */
  passed(): number;
  /** Changes one byte of a part of a sealed checkpoint. */
  corrupt(checkpointId: string, part: string): Promise<void>;
  /** Everything that the test left is taken away. */
  dispose(): Promise<void>;
}

export interface Booted {
  readonly spec: RuntimeSpec;
  readonly diskId: string;
  readonly guest: Guest;
}

export async function bootOne(harness: EngineHarness): Promise<Booted> {
  const diskId = harness.ids.next("dk");
  await harness.disks.create(diskId, harness.resources.diskBytes);
  const spec = specFor(harness, diskId);
  await harness.engine.boot(spec);
  return { spec, diskId, guest: await greeted(harness, spec, "boot") };
}

export function specFor({ ids, disks, image, resources, network }: EngineHarness, diskId: string): RuntimeSpec {
  const sandboxId = ids.next("sb");
  return {
    runtimeId: ids.next("rt"),
    sandboxId,
    hostname: "conformance",
    disk: disks.locate(diskId),
    image: image.location,
    resources,
    network,
  };
}

export async function greeted({ engine, network }: EngineHarness, spec: RuntimeSpec, origin: Identity["origin"]): Promise<Guest> {
  const guest = await engine.guest(spec.runtimeId);
  await guest.hello({
    sandboxId: spec.sandboxId,
    name: "conformance",
    hostname: spec.hostname,
    generation: 1,
    origin,
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
    workdir: "/",
    user: "root",
    parentId: null,
    fork: null,
    selfControl: false,
    memoryBytes: spec.resources.memoryBytes,
    pids: spec.resources.pids,
    address: network?.address ?? null,
    resolver: network?.resolver ?? null,
  });
  return guest;
}

/** Freezes and captures; the runtime stays frozen. */
export async function captureOf({ engine, checkpoints, ids }: EngineHarness, { spec, guest }: Booted, options?: CaptureOptions) {
  await guest.prepare();
  await engine.freeze(spec.runtimeId);
  const id = ids.next("ck");
  const location = await checkpoints.begin(id, await engine.memoryBytes(spec.runtimeId));
  return { id, location, capture: await engine.capture(spec.runtimeId, location, options) };
}

/** Freezes, captures and seals; the runtime stays frozen. */
export async function checkpointOf(harness: EngineHarness, booted: Booted): Promise<CheckpointManifest> {
  const { engine, checkpoints, image } = harness;
  const { spec, diskId } = booted;
  const { id, location, capture } = await captureOf(harness, booted);
  const parts = await engine.digest(spec.runtimeId, location, capture.parts);
  const manifest: CheckpointManifest = {
    version: 1,
    id,
    sandboxId: spec.sandboxId,
    diskId,
    generation: 1,
    createdAt: new Date().toISOString(),
    image: { digest: image.digest },
    ...capture,
    parts,
  };
  await checkpoints.seal(manifest);
  return manifest;
}

/** Runs a command to its end. */
export async function run(guest: Guest, ids: Ids, argv: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  let output = "";
  for await (const frame of guest.sessions.run({ sessionId: ids.next("se"), argv: [...argv], hold: true })) {
    if (frame.type === "output") output += new TextDecoder().decode(frame.data);
    if (frame.type === "end") return { exitCode: frame.end.exitCode, output };
  }
  throw new Error(`the stream of ${argv.join(" ")} ended without its end`);
}

/** The output of a session from its start until it has so many lines. */
export async function linesOf(guest: Guest, sessionId: string, count: number): Promise<string[]> {
  let text = "";
  const abort = new AbortController();
  for await (const frame of guest.sessions.attach(sessionId, 0, false, abort.signal)) {
    if (frame.type === "output") text += new TextDecoder().decode(frame.data);
    if (text.split("\n").length > count || frame.type === "end") break;
  }
  abort.abort();
  return text.split("\n").slice(0, count);
}

export async function framesOf(stream: AsyncIterable<SessionFrame>): Promise<SessionFrame[]> {
  const frames: SessionFrame[] = [];
  for await (const frame of stream) frames.push(frame);
  return frames;
}

export function bytes(text: string): AsyncIterable<Uint8Array> {
  return (async function* () {
    yield new TextEncoder().encode(text);
  })();
}

export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of content) text += new TextDecoder().decode(chunk);
  return text;
}
