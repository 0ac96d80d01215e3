import type { RuntimeSpec } from "@torpor/core";

/** Where the guest's binary and socket are inside. The mounts are part of every checkpoint: they never change. */
export const guestPath = "/.torpor/bin/torpor-guest";
export const connectorPath = "/.torpor/bin/torpor-connect";
const guestSocketDirectory = "/.torpor/run";

export interface SpecPlaces {
  readonly root: string;
  readonly namespace: string;
  readonly cgroup: string;
  /** Directory on the host with the guest binary alone, under its digest. */
  readonly guestDirectory: string;
}

type OciSpec = Record<string, unknown>;

/**
 * The OCI description of a runtime. PID 1 is the guest, with `capabilities`: it gives sessions Docker's default set.
 * /tmp, /run and /dev/shm are memory: they travel in a checkpoint and start empty in a boot.
 */
export function buildSpec(runtime: RuntimeSpec, places: SpecPlaces, capabilities: readonly string[]): OciSpec {
  const size = `size=${Math.floor(runtime.resources.memoryBytes * filesShare)}`;
  const tmpfs = (destination: string, ...options: string[]) => ({
    destination,
    type: "tmpfs",
    source: "tmpfs",
    options: [...options, size],
  });
  return {
    ociVersion: "1.2.0",
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [guestPath, "init"],
      env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
      cwd: "/",
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      rlimits: [{ type: "RLIMIT_NOFILE", hard: 1_048_576, soft: 1_048_576 }],
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec", "nodev"] },
      tmpfs("/dev", "nosuid", "mode=755"),
      {
        destination: "/dev/pts",
        type: "devpts",
        source: "devpts",
        options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
      },
      tmpfs("/dev/shm", "nosuid", "nodev", "mode=1777"),
      { destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"] },
      tmpfs("/tmp", "nosuid", "nodev", "mode=1777"),
      tmpfs("/run", "nosuid", "nodev", "mode=755"),
      { destination: "/.torpor/bin", type: "bind", source: places.guestDirectory, options: ["bind", "ro", "nosuid", "nodev"] },
      tmpfs(guestSocketDirectory, "nosuid", "nodev", "noexec", "mode=700"),
    ],
    ...ownTo(runtime, places),
  };
}

/** A recorded description with what is each runtime's own put in: the rest is as it was when the checkpoint was made. */
export function rebaseSpec(recorded: OciSpec, runtime: RuntimeSpec, places: SpecPlaces): OciSpec {
  const own = ownTo(runtime, places);
  const recordedLinux = recorded.linux as OciSpec;
  const recordedMounts = recorded.mounts as { destination: string; source: string }[];
  return {
    ...recorded,
    ...own,
    mounts: recordedMounts.map((mount) => (mount.destination === "/.torpor/bin" ? { ...mount, source: places.guestDirectory } : mount)),
    linux: { ...recordedLinux, ...own.linux },
  };
}

function ownTo(runtime: RuntimeSpec, places: SpecPlaces) {
  return {
    hostname: runtime.hostname,
    root: { path: places.root, readonly: false },
    linux: {
      cgroupsPath: places.cgroup,
      namespaces: [{ type: "pid" }, { type: "ipc" }, { type: "uts" }, { type: "mount" }, { type: "network", path: places.namespace }],
      resources: {
        memory: { limit: runtime.resources.memoryBytes },
        cpu: { period: cpuPeriodUs, quota: Math.max(Math.round(runtime.resources.cpus * cpuPeriodUs), 1000) },
      },
    },
  };
}

const cpuPeriodUs = 100_000;

/** How much of the memory the files of one mount may have: a write beyond fails with ENOSPC, where it would cost some process its life. */
const filesShare = 3 / 4;
