import path from "node:path";
import type { Capabilities, Info, Resources } from "@torpor/contract";
import { TorporError } from "@torpor/contract";
import type {
  Capture,
  CaptureOptions,
  CheckpointManifest,
  CheckpointPart,
  Engine,
  Guest,
  Hold,
  RuntimeEnd,
  RuntimeSpec,
  RuntimeStats,
  RuntimeStatus,
} from "@torpor/core";
import { heldError } from "../../guest/guest-error.ts";
import { GuestLines } from "../../guest/guest-lines.ts";
import type { OnRequest } from "../../guest/guest-requests.ts";
import { run } from "../../host/spawn.ts";
import type { Storage } from "../../pool/storage.ts";
import { readFigures } from "./figures.ts";
import { Holds } from "./holds.ts";
import { ShimLauncher } from "./launch-shim.ts";
import type { LaunchPlan, OciRuntime } from "./oci-runtime.ts";
import { requireMemory } from "./require-memory.ts";
import { RuntimeDirectories } from "./runtime-directory.ts";
import { type ShimClient, ShimGone } from "./shim-client.ts";
import { Shims } from "./shims.ts";
import { connectorPath, guestPath } from "./spec.ts";
import { withLog } from "./with-log.ts";

/** A guest that runs answers in a millisecond. */
const processesMs = 500;

export interface OciEngineOptions {
  /** Of the data directory: names everything on the host. */
  readonly instance: string;
  readonly dataDirectory: string;
  readonly shimPath: string;
  /** Sandboxes' DNS goes to a resolver on the host's own loopback. */
  readonly resolverOnLoopback: boolean;
}

/** What is the same for every OCI runtime under a shim: gVisor and runc. Runs one shim a runtime and speaks to it. */
export class OciEngine implements Engine {
  readonly name: string;
  readonly #runtime: OciRuntime;
  readonly #options: OciEngineOptions;
  readonly #directories: RuntimeDirectories;
  readonly #launcher: ShimLauncher;
  readonly #shims: Shims;
  readonly #holds = new Holds();
  /** Of runtimes that are being launched: until their shims listen. */
  readonly #launching = new Map<string, Promise<void>>();
  #storage: Storage | undefined;
  readonly #lines: GuestLines;
  #listener: (runtimeId: string, end: RuntimeEnd) => void = () => {};

  #onRequest: OnRequest = () => Promise.reject(new Error("nobody listens yet"));

  constructor(runtime: OciRuntime, options: OciEngineOptions) {
    this.name = runtime.name;
    this.#runtime = runtime;
    this.#options = options;
    this.#directories = new RuntimeDirectories(options.instance);
    const socketOf = (runtimeId: string) => this.#directories.at(runtimeId).guestSocket;
    this.#lines = new GuestLines(socketOf, (...request) => this.#onRequest(...request));
    this.#launcher = new ShimLauncher(options.shimPath, options.dataDirectory);
    this.#shims = new Shims(this.#directories, this.#launcher, {
      ended: (runtimeId, end) => this.#ended(runtimeId, end),
      held: (runtimeId, hold) => this.#holds.set(runtimeId, hold),
    });
    this.#holds.listen((runtimeId, hold) => this.#lines.hold(runtimeId, hold !== null));
  }

  /** Makes things ready for the next runtime. Once the pool is mounted: what is mounted later is not seen by a process with mounts of its own. */
  prepare(storage?: Storage): void {
    this.#storage = storage;
    this.#launcher.prepare();
  }

  /** Ends what waits for the next runtime. Those that run go on. */
  close(): Promise<void> {
    return this.#launcher.close();
  }

  async describe(): Promise<Info["engine"] & { readonly capabilities: Capabilities["capabilities"] }> {
    return { ...this.#runtime.binary, name: this.name, capabilities: this.#runtime.capabilities };
  }

  validate(resources: Resources): void {
    requireMemory(resources, this.#runtime.minimumMemoryBytes, this.name);
  }

  async boot(spec: RuntimeSpec): Promise<void> {
    const { runtimeId } = spec;
    const plan = async () => this.#runtime.planBoot(spec, this.#directories.at(runtimeId), this.#cgroup(runtimeId));
    await this.#launch(spec, plan, (shim) => shim.boot());
  }

  async restore(spec: RuntimeSpec, manifest: CheckpointManifest, location: string): Promise<void> {
    this.#require("resume");
    const { runtimeId } = spec;
    const plan = () => this.#runtime.planRestore(spec, this.#directories.at(runtimeId), this.#cgroup(runtimeId), manifest);
    await this.#launch(spec, plan, (shim) => shim.restore(location, manifest.parts));
  }

  async inspect(runtimeId: string): Promise<RuntimeStatus> {
    try {
      const { state, end } = await (await this.#shim(runtimeId)).status();
      return state === "ended" && end !== undefined ? { state, cause: end } : { state: state as "absent" | "running" | "frozen" };
    } catch (error) {
      if (error instanceof ShimGone) {
        return { state: "absent" };
      }
      throw error;
    }
  }

  async memoryBytes(runtimeId: string): Promise<number> {
    return (await this.#shim(runtimeId)).memoryBytes();
  }

  async stats(runtimeId: string): Promise<RuntimeStats> {
    const asked = this.#lines.isOpen(runtimeId) ? (await this.#lines.open(runtimeId)).processes(processesMs) : null;
    const [figures, processes] = await Promise.all([readFigures(this.#cgroup(runtimeId), this.#veth(runtimeId)), asked]);
    return { ...figures, processes };
  }

  /** First the sentry's own caches, then the host's. */
  async sync(runtimeId: string): Promise<void> {
    const shim = await this.#shim(runtimeId);
    await (await this.#lines.open(runtimeId)).flush();
    await shim.sync();
  }

  async freeze(runtimeId: string): Promise<void> {
    this.#require("pause");
    await (await this.#shim(runtimeId)).freeze();
  }

  async thaw(runtimeId: string): Promise<void> {
    this.#require("pause");
    await (await this.#shim(runtimeId)).thaw();
  }

  async capture(runtimeId: string, location: string, options: CaptureOptions = {}): Promise<Capture> {
    this.#require("pause");
    const parts = await (await this.#shim(runtimeId)).capture(location, options);
    return { parts, ...(await this.#runtime.describeCapture(this.#directories.at(runtimeId))) };
  }

  async syncDisk(runtimeId: string): Promise<void> {
    await (await this.#shim(runtimeId)).syncDisk();
  }

  async digest(runtimeId: string, location: string, parts: Capture["parts"]): Promise<CheckpointPart[]> {
    try {
      return await (await this.#shim(runtimeId)).digest(location, parts);
    } catch (error) {
      if (!(error instanceof ShimGone)) {
        throw error;
      }
    }
    const { stdout } = await run(this.#options.shimPath, ["hash", ...parts.map(({ name }) => path.join(location, name))]);
    const hashes = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "");
    return parts.map((part, index) => ({ ...part, hash: hashes[index] ?? "" }));
  }

  async destroy(runtimeId: string, why: "paused" | "stopped" = "stopped"): Promise<void> {
    this.#lines.close(runtimeId, why);
    this.#holds.forget(runtimeId);
    await this.#shims.destroy(runtimeId, async () => {
      if (this.#directories.exists(runtimeId)) {
        await run(this.#options.shimPath, ["destroy", this.#directories.at(runtimeId).path]);
      }
    });
  }

  list(): Promise<string[]> {
    return this.#directories.list();
  }

  async guest(runtimeId: string): Promise<Guest> {
    await this.#launching.get(runtimeId);
    if (this.#holds.get(runtimeId) !== null) throw heldError();
    if (!this.#lines.isOpen(runtimeId)) {
      // So that the runtime's end is heard of.
      await this.#shim(runtimeId);
    }
    return this.#lines.open(runtimeId);
  }

  onEnd(listener: (runtimeId: string, end: RuntimeEnd) => void): void {
    this.#listener = listener;
  }

  held(runtimeId: string): Hold | null {
    return this.#holds.get(runtimeId);
  }

  onHold(listener: (runtimeId: string, hold: Hold | null) => void): void {
    this.#holds.listen(listener);
  }

  onRequest(listener: OnRequest): void {
    this.#onRequest = listener;
  }

  logs(runtimeId: string, limitBytes: number): Promise<string> {
    return this.#directories.log(runtimeId, limitBytes);
  }

  async #launch(spec: RuntimeSpec, plan: () => Promise<LaunchPlan>, start: (shim: ShimClient) => Promise<void>): Promise<void> {
    const { runtimeId } = spec;
    const listening = this.#listen(spec, plan);
    this.#launching.set(runtimeId, listening);
    try {
      await listening;
      await start(await this.#shim(runtimeId));
    } catch (error) {
      const log = await this.logs(runtimeId, 4096);
      await this.destroy(runtimeId);
      throw withLog(error, log);
    } finally {
      this.#launching.delete(runtimeId);
      this.#launcher.prepareSoon();
    }
  }

  /** Resolves when the runtime's shim listens: to the daemon, and to whoever wants to speak to the guest as soon as it runs. */
  async #listen(spec: RuntimeSpec, planning: () => Promise<LaunchPlan>): Promise<void> {
    const { runtimeId } = spec;
    const plan = await planning();
    const description = {
      runtimeId,
      engine: plan.command,
      engineKind: this.#runtime.name,
      containerId: runtimeId,
      disk: spec.disk,
      image: spec.image,
      network: spec.network && {
        veth: this.#veth(runtimeId),
        address: `${spec.network.address}/${spec.network.prefixLength}`,
        gateway: spec.network.gateway,
        routeLocalnet: this.#options.resolverOnLoopback,
      },
      cgroup: this.#cgroup(runtimeId),
      hardMemoryBytes: this.#runtime.hardMemoryBytes(spec.resources),
      hostPids: this.#runtime.hostPids(spec.resources),
      controlDir: plan.speaksControl ? this.#directories.at(runtimeId).engineState : "",
      storage: this.#storage ?? null,
      guest: guestPath,
      connector: connectorPath,
    };
    await this.#launcher.launch(await this.#directories.create(runtimeId, description, plan.spec));
  }

  #shim(runtimeId: string): Promise<ShimClient> {
    return this.#shims.of(runtimeId);
  }

  #ended(runtimeId: string, end: RuntimeEnd): void {
    this.#lines.close(runtimeId, "lost");
    this.#holds.forget(runtimeId);
    this.#listener(runtimeId, end);
  }

  #cgroup(runtimeId: string): string {
    return `/torpor-${this.#options.instance}/${runtimeId}`;
  }

  #veth(runtimeId: string): string {
    return `tp${this.#options.instance.slice(0, 4)}${runtimeId.slice(-8)}`;
  }

  #require(capability: keyof Capabilities["capabilities"]): void {
    const { supported, reason } = this.#runtime.capabilities[capability];
    if (!supported) {
      throw new TorporError("capability_unsupported", `Engine ${this.name} does not support ${capability}: ${reason}`, {
        hint: "torpor capabilities lists what this server can do.",
        details: { engine: this.name, capability },
      });
    }
  }
}
