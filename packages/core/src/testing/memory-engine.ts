import { type Capabilities, capabilityNames, type Resources, TorporError } from "@torpor/contract";
import type { CheckpointManifest, CheckpointPart } from "../ports/checkpoints.ts";
import type {
  Capture,
  CaptureOptions,
  Engine,
  Hold,
  RuntimeEnd,
  RuntimeSpec,
  RuntimeStats,
  RuntimeStatus,
  SelfAnswer,
  SelfRequest,
} from "../ports/engine.ts";
import type { Guest } from "../ports/guest.ts";
import type { MemoryCheckpoints } from "./memory-checkpoints.ts";
import type { MemoryDisks } from "./memory-disks.ts";
import { MemoryGuest } from "./memory-guest.ts";
import { MemoryRuntime } from "./memory-runtime.ts";

type CapabilityName = (typeof capabilityNames)[number];
export type EngineCall = "boot" | "restore" | "freeze" | "thaw" | "capture" | "destroy" | "guest";

export interface MemoryEngineOptions {
  readonly disks: MemoryDisks;
  readonly checkpoints: MemoryCheckpoints;
  readonly unsupported?: readonly CapabilityName[];
  readonly version?: string;
}

const minimumMemoryBytes = 64 * 1024 * 1024;
/** CPU time that a step counts as. */
const tickMs = 10;
const heldBytes = 50 * 1024 * 1024;

/**
 * An engine in which nothing is real and everything is told apart: frozen runtimes do not go on, memory comes back only from
 * a checkpoint, and a disk that two runtimes would write is an error. It lives on when a lifecycle is "killed", as a host does.
 */
export class MemoryEngine implements Engine {
  readonly name = "memory";
  version: string;
  readonly #options: MemoryEngineOptions;
  #requests: (sandboxId: string, request: SelfRequest) => Promise<SelfAnswer> = () => Promise.reject(new Error("nobody listens"));
  readonly #runtimes = new Map<string, MemoryRuntime>();
  readonly #lines = new Map<string, MemoryGuest>();
  readonly #faults = new Map<EngineCall, { error: Error; after: boolean }[]>();
  readonly #holds = new Map<string, Hold>();
  readonly #starting = new Map<string, Promise<void>>();
  #holdListeners: ((runtimeId: string, hold: Hold | null) => void)[] = [];
  #listeners: ((runtimeId: string, end: RuntimeEnd) => void)[] = [];

  constructor(options: MemoryEngineOptions) {
    this.#options = options;
    this.version = options.version ?? "1";
    options.disks.usage = (id) => this.#usage(id);
  }

  async describe(): ReturnType<Engine["describe"]> {
    const unsupported = this.#options.unsupported ?? [];
    const capabilities = Object.fromEntries(
      capabilityNames.map((name) => [
        name,
        unsupported.includes(name) ? { supported: false, reason: "it was told not to" } : { supported: true, reason: "" },
      ]),
    ) as Capabilities["capabilities"];
    return { name: this.name, version: this.version, path: "memory", source: "built", sha256: "0".repeat(64), capabilities };
  }

  validate({ memoryBytes }: Resources): void {
    if (memoryBytes >= minimumMemoryBytes) return;
    throw new TorporError("invalid_request", `the engine memory needs at least ${minimumMemoryBytes} bytes of memory, not ${memoryBytes}`);
  }

  async boot(spec: RuntimeSpec): Promise<void> {
    await this.#start(spec, "boot", () => new MemoryRuntime(spec, this.#free(spec)));
  }

  async restore(spec: RuntimeSpec, manifest: CheckpointManifest, location: string): Promise<void> {
    this.#require("resume");
    await this.#start(spec, "restore", () => new MemoryRuntime(spec, this.#free(spec), this.#verified(manifest, location)));
  }

  async inspect(runtimeId: string): Promise<RuntimeStatus> {
    const runtime = this.#runtimes.get(runtimeId);
    if (runtime === undefined) return { state: "absent" };
    return runtime.end === null ? { state: runtime.state === "frozen" ? "frozen" : "running" } : { state: "ended", cause: runtime.end };
  }

  async memoryBytes(runtimeId: string): Promise<number> {
    return heldBytes + this.#get(runtimeId).dump().length;
  }

  async stats(runtimeId: string): Promise<RuntimeStats> {
    const runtime = this.#get(runtimeId);
    const network = runtime.spec.network === null ? null : { receivedBytes: 0, sentBytes: 0 };
    const processes = runtime.state === "running" ? runtime.memory.processes.length + 1 : null;
    return { memoryBytes: await this.memoryBytes(runtimeId), cpuMs: runtime.ticks * tickMs, processes, network };
  }

  async sync(runtimeId: string): Promise<void> {
    this.#get(runtimeId);
  }

  async freeze(runtimeId: string): Promise<void> {
    this.#require("pause");
    await this.#faulty("freeze", async () => this.#turn(runtimeId, "frozen"));
  }

  async thaw(runtimeId: string): Promise<void> {
    await this.#faulty("thaw", async () => this.#turn(runtimeId, "running"));
  }

  async capture(runtimeId: string, location: string, { forSeal = false }: CaptureOptions = {}): Promise<Capture> {
    const runtime = this.#get(runtimeId);
    if (runtime.state !== "frozen") throw new TorporError("engine_failed", `runtime ${runtimeId} is captured while it is ${runtime.state}`);
    const parts: { name: string; sizeBytes: number; hash?: string }[] = [];
    await this.#faulty("capture", async () => {
      for (const [name, content] of [
        ["state", runtime.dump()],
        ["pages", "pages"],
      ] as const) {
        this.#options.checkpoints.partsAt(location).set(name, content);
        parts.push({ name, sizeBytes: content.length, ...(forSeal ? { hash: hashOf(content) } : {}) });
      }
    });
    const engine = { name: this.name, version: this.version, sha256: "0".repeat(64) };
    return { parts, engine, guest: { sha256: "0".repeat(64) }, cpu: { architecture: "memory", features: [] }, restore: {} };
  }

  async syncDisk(runtimeId: string): Promise<void> {
    const runtime = this.#get(runtimeId);
    if (runtime.state !== "frozen")
      throw new TorporError("engine_failed", `the disk of ${runtimeId} is synced while it is ${runtime.state}`);
  }

  async digest(_runtimeId: string, location: string, parts: Capture["parts"]): Promise<CheckpointPart[]> {
    return parts.map((part) => ({ ...part, hash: hashOf(this.#options.checkpoints.partsAt(location).get(part.name) ?? "") }));
  }

  async destroy(runtimeId: string, why: "paused" | "stopped" = "stopped"): Promise<void> {
    await this.#faulty("destroy", async () => {
      this.#closeLine(runtimeId, why);
      const runtime = this.#runtimes.get(runtimeId);
      this.#runtimes.delete(runtimeId);
      if (runtime !== undefined) runtime.state = "ended";
    });
  }

  async list(): Promise<string[]> {
    return [...this.#runtimes.keys()];
  }

  async guest(runtimeId: string): Promise<Guest> {
    await this.#starting.get(runtimeId);
    const runtime = this.#get(runtimeId);
    await this.#faulty("guest", async () => {});
    if (this.#holds.has(runtimeId)) throw new TorporError("disk_full", "the sandbox is held: its pool is full");
    const open = this.#lines.get(runtimeId);
    if (open !== undefined && open.ended() === null) return open;
    const line = new MemoryGuest(runtime, () => this.end(runtimeId, { reason: "exited", exitCode: 0, message: "shut down" }));
    this.#lines.set(runtimeId, line);
    return line;
  }

  onEnd(listener: (runtimeId: string, end: RuntimeEnd) => void): void {
    this.#listeners.push(listener);
  }

  held(runtimeId: string): Hold | null {
    return this.#holds.get(runtimeId) ?? null;
  }

  onHold(listener: (runtimeId: string, hold: Hold | null) => void): void {
    this.#holdListeners.push(listener);
  }

  /** For tests: its pool is full, or with null has room again. */
  hold(runtimeId: string, hold: Hold | null): void {
    hold === null ? this.#holds.delete(runtimeId) : this.#holds.set(runtimeId, hold);
    for (const listener of this.#holdListeners) listener(runtimeId, hold);
  }

  onRequest(listener: (sandboxId: string, request: SelfRequest) => Promise<SelfAnswer>): void {
    this.#requests = listener;
  }

  /** For tests: a process asks for its sandbox. */
  ask(sandboxId: string, request: SelfRequest): Promise<SelfAnswer> {
    return this.#requests(sandboxId, request);
  }

  async logs(runtimeId: string, limitBytes: number): Promise<string> {
    return `runtime ${runtimeId}\n`.slice(-limitBytes);
  }

  /** For tests: time goes on by a step in everything that is not frozen. */
  tick(): void {
    for (const runtime of this.#runtimes.values()) runtime.tick();
  }

  /** For tests: a runtime ends by itself. */
  end(runtimeId: string, end: RuntimeEnd): void {
    const runtime = this.#get(runtimeId);
    if (runtime.end !== null) return;
    runtime.end = end;
    runtime.state = "ended";
    runtime.notify();
    for (const listener of this.#listeners) listener(runtimeId, end);
  }

  /** For tests: the next such call fails, before it did anything or after it did all. */
  failNext(call: EngineCall, error: Error, { after = false }: { after?: boolean } = {}): void {
    this.#faults.set(call, [...(this.#faults.get(call) ?? []), { error, after }]);
  }

  /** For tests: the daemon is gone, and with it its lines and listeners. */
  forgetDaemon(): void {
    for (const runtimeId of this.#lines.keys()) this.#closeLine(runtimeId, "lost");
    this.#listeners = [];
    this.#holdListeners = [];
    this.#faults.clear();
  }

  #verified(manifest: CheckpointManifest, location: string): string {
    if (manifest.engine.version !== this.version) {
      throw new TorporError(
        "checkpoint_incompatible",
        `checkpoint ${manifest.id} was made by version ${manifest.engine.version}, this is ${this.version}`,
      );
    }
    const found = this.#options.checkpoints.partsAt(location);
    for (const { name, hash } of manifest.parts) {
      if (hashOf(found.get(name) ?? "") !== hash)
        throw new TorporError("checkpoint_corrupt", `part ${name} of checkpoint ${manifest.id} is damaged`);
    }
    return found.get("state") ?? "";
  }

  #free(spec: RuntimeSpec) {
    const opened = this.#options.disks.openAt(spec.disk);
    if (this.#runtimes.has(spec.runtimeId)) throw new Error(`there is a runtime ${spec.runtimeId} already`);
    if (this.#usage(opened.id) !== null) throw new Error(`two runtimes would write disk ${opened.id}`);
    for (const runtime of this.#runtimes.values()) {
      if (runtime.spec.sandboxId === spec.sandboxId && runtime.end === null)
        throw new Error(`sandbox ${spec.sandboxId} would have two runtimes`);
    }
    return opened;
  }

  async #start({ runtimeId }: RuntimeSpec, call: "boot" | "restore", make: () => MemoryRuntime): Promise<void> {
    const starting = this.#faulty(call, async () => void this.#runtimes.set(runtimeId, make()));
    this.#starting.set(runtimeId, starting);
    await starting.finally(() => this.#starting.delete(runtimeId));
  }

  #get(runtimeId: string): MemoryRuntime {
    const runtime = this.#runtimes.get(runtimeId);
    if (runtime === undefined) throw new TorporError("engine_failed", `there is no runtime ${runtimeId}`);
    return runtime;
  }

  #turn(runtimeId: string, state: "running" | "frozen"): void {
    const runtime = this.#get(runtimeId);
    if (runtime.end !== null) throw new TorporError("engine_failed", `runtime ${runtimeId} has ended`);
    runtime.state = state;
    runtime.notify();
  }

  #closeLine(runtimeId: string, reason: "paused" | "stopped" | "lost"): void {
    this.#lines.get(runtimeId)?.close(reason);
    this.#lines.delete(runtimeId);
  }

  #usage(diskId: string): "running" | "frozen" | null {
    const user = [...this.#runtimes.values()].find((runtime) => runtime.diskId === diskId);
    return user === undefined ? null : user.state === "frozen" ? "frozen" : "running";
  }

  #require(name: CapabilityName): void {
    if (!this.#options.unsupported?.includes(name)) return;
    throw new TorporError("capability_unsupported", `the engine memory can't ${name}: it was told not to`);
  }

  async #faulty(call: EngineCall, work: () => Promise<void>): Promise<void> {
    const [fault, ...rest] = this.#faults.get(call) ?? [];
    if (fault !== undefined) this.#faults.set(call, rest);
    if (fault?.after === false) throw fault.error;
    await work();
    if (fault?.after) throw fault.error;
  }
}

/** FNV-1a twice: enough to see a change. */
function hashOf(content: string): string {
  let a = 2166136261;
  let b = 5381;
  for (const character of content) {
    a = Math.imul(a ^ character.charCodeAt(0), 16777619);
    b = (Math.imul(b, 33) + character.charCodeAt(0)) | 0;
  }
  return `xxh3:${[a, b, a ^ b, a + b].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("")}`;
}
