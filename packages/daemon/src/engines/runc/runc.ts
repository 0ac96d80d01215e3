import { type Capabilities, capabilityNames, TorporError } from "@torpor/contract";
import { digest } from "../../host/digest.ts";
import { run } from "../../host/spawn.ts";
import { containerCapabilities } from "../oci/capabilities.ts";
import type { GuestBinary } from "../oci/guest-binary.ts";
import type { OciRuntime } from "../oci/oci-runtime.ts";
import { buildSpec } from "../oci/spec.ts";
import { readHostRights } from "./host-rights.ts";
import { hostSpec } from "./host-spec.ts";

const noCheckpoint = "it runs sandboxes on the host's own kernel, which can't write them to a file and go on from it";
const unsupported: readonly string[] = ["pause", "resume", "fork"];
/** Places in the group for the guest's own threads, beside the sandbox's processes. The guest makes them as it starts (process/threads.go). */
const guestThreads = 16;

/** runc: containers on the host's kernel. No isolation from hostile code, no pause; for hosts and tests where gVisor can't be. */
export async function openRunc(guest: GuestBinary): Promise<OciRuntime> {
  const { path, version } = await find();
  const rights = await readHostRights();
  const binary = { path, version, sha256: await digest(path), source: "path" };
  const capabilities = Object.fromEntries(
    capabilityNames.map((name) => [
      name,
      unsupported.includes(name) ? { supported: false, reason: noCheckpoint } : { supported: true, reason: "" },
    ]),
  ) as Capabilities["capabilities"];
  const refuse = (): never => {
    throw new TorporError("capability_unsupported", `Engine runc does not support resume: ${noCheckpoint}`);
  };
  return {
    name: "runc",
    binary,
    capabilities,
    // runc itself runs in the group while it starts the container and needs some 10 MiB.
    minimumMemoryBytes: 32 * 2 ** 20,
    planBoot: (spec, directory, cgroup) => ({
      command: [path, "--root", directory.engineState],
      spec: hostSpec(
        buildSpec(
          spec,
          { root: directory.root, namespace: directory.namespace, cgroup, guestDirectory: guest.directory },
          containerCapabilities,
        ),
        rights,
      ),
      speaksControl: false,
    }),
    planRestore: async () => refuse(),
    describeCapture: async () => refuse(),
    hardMemoryBytes: () => 0,
    // Guest processes are host processes here.
    hostPids: (resources) => resources.pids + guestThreads,
  };
}

async function find(): Promise<{ path: string; version: string }> {
  try {
    const path = (await run("sh", ["-c", "command -v runc"])).stdout.trim();
    const version = /^runc version (\S+)/m.exec((await run(path, ["--version"])).stdout)?.[1] ?? "unknown";
    return { path, version };
  } catch (cause) {
    throw new TorporError("engine_unavailable", "runc is not on this host", {
      hint: "Install it (apt-get install runc), or use the engine gvisor.",
      cause,
    });
  }
}
