import type { Capabilities, Info, Resources } from "@torpor/contract";
import type { Capture, CheckpointManifest, RuntimeSpec } from "@torpor/core";
import type { RuntimeDirectory } from "./runtime-directory.ts";

/** The command with all its flags, and the OCI description, of one runtime. */
export interface LaunchPlan {
  readonly command: readonly string[];
  readonly spec: object;
  /** The shim speaks this engine's control protocol, so that calls need no command. */
  readonly speaksControl: boolean;
}

/** What differs between OCI runtimes under a shim. */
export interface OciRuntime {
  readonly name: "gvisor" | "runc";
  readonly binary: Omit<Info["engine"], "name">;
  readonly capabilities: Capabilities["capabilities"];
  readonly minimumMemoryBytes: number;
  planBoot(spec: RuntimeSpec, directory: RuntimeDirectory, cgroup: string): LaunchPlan;
  /** Refuses with `checkpoint_incompatible`, naming the difference, before anything is made. */
  planRestore(spec: RuntimeSpec, directory: RuntimeDirectory, cgroup: string, manifest: CheckpointManifest): Promise<LaunchPlan>;
  /** What a checkpoint of the runtime in this directory is bound to. */
  describeCapture(directory: RuntimeDirectory): Promise<Omit<Capture, "parts">>;
  /** The kernel's limit, above the promised memory; 0 leaves the promised one. */
  hardMemoryBytes(resources: Resources): number;
  /** Bound of the host's threads for the sandbox; 0: none. */
  hostPids(resources: Resources): number;
}
