import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Capabilities, capabilityNames, type Resources, TorporError } from "@torpor/contract";
import type { Capture, CheckpointManifest, RuntimeSpec } from "@torpor/core";
import { type Cpu, readCpu } from "../../host/cpu.ts";
import { guestCapabilities } from "../oci/capabilities.ts";
import { type GuestBinary, guestDirectory, hasGuest } from "../oci/guest-binary.ts";
import type { LaunchPlan, OciRuntime } from "../oci/oci-runtime.ts";
import type { RuntimeDirectory } from "../oci/runtime-directory.ts";
import { buildSpec, rebaseSpec } from "../oci/spec.ts";
import pin from "./pin.json" with { type: "json" };
import { type EngineBinary, keptRunsc } from "./resolve.ts";

/**
 * Flags of every call. They shape what a checkpoint holds, so they are recorded with it and used again. The cgroup of version 2 inside is what
 * the guest bounds processes with: the sentry's default of version 1 lets most forks of a bomb through.
 */
const flags = ["--platform=systrap", "--overlay2=none", "--network=sandbox", "--allow-suid", "--in-sandbox-cgroup=v2"] as const;

/** Recorded with a checkpoint. */
interface RestoreRecord extends Record<string, unknown> {
  readonly flags: readonly string[];
  readonly spec: Record<string, unknown>;
}

const mib = 2 ** 20;

/** gVisor: a kernel of its own in user space, which can write its whole state to a file and go on from it. */
export class Gvisor implements OciRuntime {
  readonly name = "gvisor";
  readonly capabilities: Capabilities["capabilities"] = Object.fromEntries(
    capabilityNames.map((name) => [name, { supported: true, reason: "" }]),
  ) as Capabilities["capabilities"];
  /** Below this a Python or Node.js process does not start. */
  readonly minimumMemoryBytes = 64 * mib;
  readonly binary: EngineBinary;
  readonly #guest: GuestBinary;
  readonly #dataDirectory: string;
  readonly #cpu: Cpu;

  private constructor(binary: EngineBinary, guest: GuestBinary, dataDirectory: string, cpu: Cpu) {
    this.binary = binary;
    this.#guest = guest;
    this.#dataDirectory = dataDirectory;
    this.#cpu = cpu;
  }

  static async create(binary: EngineBinary, guest: GuestBinary, dataDirectory: string): Promise<Gvisor> {
    return new Gvisor(binary, guest, dataDirectory, await readCpu());
  }

  planBoot(spec: RuntimeSpec, directory: RuntimeDirectory, cgroup: string): LaunchPlan {
    return {
      command: command(this.binary.path, directory, flags),
      spec: buildSpec(
        spec,
        { root: directory.root, namespace: directory.namespace, cgroup, guestDirectory: this.#guest.directory },
        guestCapabilities,
      ),
      speaksControl: speaksControl(this.binary),
    };
  }

  async planRestore(spec: RuntimeSpec, directory: RuntimeDirectory, cgroup: string, manifest: CheckpointManifest): Promise<LaunchPlan> {
    const binary =
      manifest.engine.sha256 === this.binary.sha256 ? this.binary : await keptRunsc(this.#dataDirectory, manifest.engine.sha256);
    this.#refuseOthers(manifest, binary !== undefined, await hasGuest(this.#dataDirectory, manifest.guest.sha256));
    const record = manifest.restore as RestoreRecord;
    const places = {
      root: directory.root,
      namespace: directory.namespace,
      cgroup,
      guestDirectory: guestDirectory(this.#dataDirectory, manifest.guest.sha256),
    };
    return {
      command: command(binary?.path ?? this.binary.path, directory, record.flags),
      spec: rebaseSpec(record.spec, spec, places),
      speaksControl: speaksControl(binary),
    };
  }

  async describeCapture(directory: RuntimeDirectory): Promise<Omit<Capture, "parts">> {
    // A runtime that was restored may be one of an older engine or guest: its own description tells.
    const { engine } = JSON.parse(await readFile(directory.description, "utf8")) as { engine: string[] };
    const spec = JSON.parse(await readFile(path.join(directory.bundle, "config.json"), "utf8")) as RestoreRecord["spec"];
    const sha256 = path.basename(path.dirname(engine[0] ?? ""));
    const binary = sha256 === this.binary.sha256 ? this.binary : await keptRunsc(this.#dataDirectory, sha256);
    const mounts = spec.mounts as { destination: string; source: string }[];
    const restore: RestoreRecord = {
      flags: engine.slice(1).filter((flag) => !flag.startsWith("--root=") && !flag.startsWith("--shared-root=")),
      spec,
    };
    return {
      engine: { name: this.name, version: binary?.version ?? "unknown", sha256 },
      guest: { sha256: path.basename(mounts.find((mount) => mount.destination === "/.torpor/bin")?.source ?? "") },
      cpu: this.#cpu,
      restore,
    };
  }

  /**
   * The kernel's limit ends the whole sandbox, so it lies above the promised memory: by what sentry and gofer hold themselves, and by
   * what a process can take between two looks of the guest's memory watch, which come late on a busy host (decision 0195).
   */
  hardMemoryBytes(resources: Resources): number {
    return resources.memoryBytes + 160 * mib + Math.max(Math.floor(resources.memoryBytes / 8), 384 * mib);
  }

  /** Each guest thread may be a host thread; the guest's own limit comes first. */
  hostPids(resources: Resources): number {
    return resources.pids * 4 + 1024;
  }

  #refuseOthers(manifest: CheckpointManifest, hasEngine: boolean, hasGuestBinary: boolean): void {
    const refuse = (difference: string) => {
      throw new TorporError("checkpoint_incompatible", `Checkpoint ${manifest.id} can't be restored here: ${difference}`, {
        hint: "Resume with memory discarded boots the sandbox from its files.",
      });
    };
    if (manifest.engine.name !== this.name) {
      refuse(`engine ${manifest.engine.name} made it, and this is ${this.name}`);
    }
    if (!hasEngine) {
      refuse(`runsc ${manifest.engine.version} (sha256 ${manifest.engine.sha256}) made it and is no longer here`);
    }
    if (!hasGuestBinary) {
      refuse(`its guest binary (sha256 ${manifest.guest.sha256}) is no longer here`);
    }
    if (manifest.cpu.architecture !== this.#cpu.architecture) {
      refuse(`it was made on ${manifest.cpu.architecture}, and this host is ${this.#cpu.architecture}`);
    }
    const here = new Set(this.#cpu.features);
    const missing = manifest.cpu.features.filter((feature) => !here.has(feature));
    if (missing.length > 0) {
      refuse(`this host's CPU lacks ${missing.join(", ")}`);
    }
  }
}

/** The control protocol is the engine's own and may change with each version (native/internal/sentry). */
function speaksControl(binary: EngineBinary | undefined): boolean {
  return binary?.version === pin.version;
}

function command(binary: string, directory: RuntimeDirectory, flagsToUse: readonly string[]): string[] {
  // A shared root for what runsc makes once a host; with each root its own, every runtime would leave a mounted null-netns behind.
  return [binary, `--root=${directory.engineState}`, `--shared-root=${path.join(path.dirname(directory.path), "shared")}`, ...flagsToUse];
}
