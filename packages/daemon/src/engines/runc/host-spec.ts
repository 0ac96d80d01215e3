import type { HostRights } from "./host-rights.ts";

type Spec = Record<string, unknown>;

/** What a container on the host's own kernel needs said that gVisor does not: there the kernel is the sandbox's alone. */
export function hostSpec(spec: Spec, { openFiles, capabilities }: HostRights): Spec {
  const process = spec.process as Spec;
  const linux = spec.linux as Spec;
  const sets = Object.entries(process.capabilities as Record<string, readonly string[]>);
  return {
    ...spec,
    process: {
      ...process,
      capabilities: Object.fromEntries(sets.map(([set, names]) => [set, names.filter((name) => capabilities.has(name))])),
      rlimits: [{ type: "RLIMIT_NOFILE", hard: openFiles, soft: openFiles }],
    },
    linux: {
      ...linux,
      // The engine's own list of harmless devices comes after it; without this line every device of the host would be open.
      resources: { ...(linux.resources as Spec), devices: [{ allow: false, access: "rwm" }] },
      maskedPaths,
      readonlyPaths,
    },
  };
}

/** As container engines have them: what of /proc and /sys tells of the host or changes it. */
const maskedPaths = [
  "/proc/acpi",
  "/proc/asound",
  "/proc/interrupts",
  "/proc/kcore",
  "/proc/keys",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/scsi",
  "/proc/timer_list",
  "/proc/timer_stats",
  "/sys/devices/virtual/powercap",
  "/sys/firmware",
];
const readonlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];
