/** linux/capability.h: a capability's number is its place. Names as in capabilities(7), with CAP_. */
export const linuxCapabilities: readonly string[] = [
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
  "SYS_MODULE",
  "SYS_RAWIO",
  "SYS_CHROOT",
  "SYS_PTRACE",
  "SYS_PACCT",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_NICE",
  "SYS_RESOURCE",
  "SYS_TIME",
  "SYS_TTY_CONFIG",
  "MKNOD",
  "LEASE",
  "AUDIT_WRITE",
  "AUDIT_CONTROL",
  "SETFCAP",
  "MAC_OVERRIDE",
  "MAC_ADMIN",
  "SYSLOG",
  "WAKE_ALARM",
  "BLOCK_SUSPEND",
  "AUDIT_READ",
  "PERFMON",
  "BPF",
  "CHECKPOINT_RESTORE",
].map(withPrefix);

/** What reaches the kernel itself: its modules, ports, clock, log and security policy. */
const kernelCapabilities: readonly string[] = [
  "SYS_MODULE",
  "SYS_RAWIO",
  "SYS_TIME",
  "MAC_OVERRIDE",
  "MAC_ADMIN",
  "SYSLOG",
  "WAKE_ALARM",
  "BLOCK_SUSPEND",
  "AUDIT_READ",
  "PERFMON",
  "BPF",
  "CHECKPOINT_RESTORE",
].map(withPrefix);

/** All but what reaches the kernel itself. The guest takes away what sessions must not have, one by one, each a millisecond of the boot. */
export const containerCapabilities: readonly string[] = linuxCapabilities.filter((name) => !kernelCapabilities.includes(name));

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
].map(withPrefix);

function withPrefix(name: string): string {
  return `CAP_${name}`;
}
