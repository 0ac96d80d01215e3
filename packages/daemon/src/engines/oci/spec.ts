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
  /** Of PID 1. Default all. The guest takes away what sessions must not have, one by one, each a millisecond of the boot. */
  readonly capabilities?: readonly string[];
}

type OciSpec = Record<string, unknown>;

/**
 * The OCI description of a runtime. PID 1 is the guest, with every capability: it gives sessions Docker's default set.
 * /tmp, /run and /dev/shm are memory: they travel in a checkpoint and start empty in a boot.
 */
export function buildSpec(runtime: RuntimeSpec, places: SpecPlaces): OciSpec {
  const capabilities = places.capabilities ?? allCapabilities;
  return {
    ociVersion: "1.2.0",
    hostname: runtime.hostname,
    root: { path: places.root, readonly: false },
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

/** A recorded description with what is each runtime's own put in: the rest is as it was when the checkpoint was made. */
export function rebaseSpec(recorded: OciSpec, runtime: RuntimeSpec, places: SpecPlaces): OciSpec {
  const fresh = buildSpec(runtime, places);
  const recordedLinux = recorded.linux as OciSpec;
  const recordedMounts = recorded.mounts as { destination: string; source: string }[];
  return {
    ...recorded,
    hostname: fresh.hostname,
    root: fresh.root,
    mounts: recordedMounts.map((mount) => (mount.destination === "/.torpor/bin" ? { ...mount, source: places.guestDirectory } : mount)),
    linux: { ...recordedLinux, ...(fresh.linux as OciSpec) },
  };
}

/** What the guest can do with: Docker's default set, which sessions have (native/internal/guest/process/capabilities.go), and hostname and mounts. */
export const guestCapabilities: readonly string[] = [
  "SYS_ADMIN",
  "CHOWN",
  "DAC_OVERRIDE",
  "FSETID",
  "FOWNER",
  "MKNOD",
  "NET_RAW",
  "SETGID",
  "SETUID",
  "SETFCAP",
  "SETPCAP",
  "NET_BIND_SERVICE",
  "SYS_CHROOT",
  "KILL",
  "AUDIT_WRITE",
].map((name) => `CAP_${name}`);

const cpuPeriodUs = 100_000;

function tmpfs(destination: string, ...options: string[]) {
  return { destination, type: "tmpfs", source: "tmpfs", options };
}

/** capabilities(7), as of Linux 5.9; the guest needs most of them to act as other users and to set up sessions. */
const allCapabilities = [
  "CHOWN",
  "DAC_OVERRIDE",
  "DAC_READ_SEARCH",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "SETPCAP",
  "LINUX_IMMUTABLE",
  "NET_BIND_SERVICE",
  "NET_BROADCAST",
  "NET_ADMIN",
  "NET_RAW",
  "IPC_LOCK",
  "IPC_OWNER",
  "SYS_CHROOT",
  "SYS_PTRACE",
  "SYS_PACCT",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_NICE",
  "SYS_RESOURCE",
  "SYS_TTY_CONFIG",
  "MKNOD",
  "LEASE",
  "AUDIT_WRITE",
  "AUDIT_CONTROL",
  "SETFCAP",
].map((name) => `CAP_${name}`);
