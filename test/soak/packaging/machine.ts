import { execFile, execFileSync } from "node:child_process";
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { eventually } from "../../system/harness/inside.ts";
import { hostSources, suite } from "../../system/harness/test-image.ts";

/** A root file system as a user's host has it: Debian with these packages, Node.js with npm, and nothing of Torpor. */
export function makeRoot(directory: string, packages: readonly string[]): string {
  const root = path.join(directory, "root");
  const sources = path.join(directory, "sources");
  writeFileSync(sources, hostSources());
  execFileSync("mmdebstrap", ["--variant=minbase", `--include=ca-certificates,${packages.join(",")}`, suite(), root, sources], {
    stdio: "ignore",
  });
  const local = path.join(root, "usr/local");
  mkdirSync(path.join(local, "lib/node_modules"), { recursive: true });
  cpSync(process.execPath, path.join(local, "bin/node"));
  const modules = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
  cpSync(path.join(modules, "npm"), path.join(local, "lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", path.join(local, "bin/npm"));
  // How this host reaches registries: a proxy's certificate may be among these.
  cpSync("/etc/ssl/certs/ca-certificates.crt", path.join(root, "etc/ssl/certs/ca-certificates.crt"));
  return root;
}

/** Runs a shell command in the root by chroot, with mounts and processes of its own and the host's network; gives what it says. */
export function inRoot(root: string, command: string): string {
  const mounts = `mount --make-rprivate /; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t tmpfs tmpfs "$0/run"`;
  const env = { PATH, HOME: "/root", NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt" };
  const script = `${mounts}; exec chroot "$0" sh -c "$1" 2>&1`;
  return execFileSync("unshare", ["--mount", "--pid", "--fork", "sh", "-c", script, root, command], { env, encoding: "utf8" });
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface Start {
  readonly args: readonly string[];
  readonly env?: readonly string[];
  /** What of the host is seen in it, by the path there. */
  readonly shown: Readonly<Record<string, string>>;
}

/** The root in a container by runc, with the rights of a host (Docker's --privileged) and a network of its own. */
export class Machine {
  readonly #runc: readonly string[];
  readonly #name: string;

  private constructor(directory: string) {
    this.#name = path.basename(directory);
    this.#runc = ["--root", path.join(directory, "runc")];
  }

  static start(directory: string, root: string, start: Start): Machine {
    const machine = new Machine(directory);
    const bundle = path.join(directory, "bundle");
    mkdirSync(bundle, { recursive: true });
    writeFileSync(path.join(bundle, "config.json"), JSON.stringify(specOf(root, machine.#name, start)));
    const log = openSync(path.join(directory, "log"), "a");
    execFileSync("runc", [...machine.#runc, "run", "--detach", "--bundle", bundle, machine.#name], { stdio: ["ignore", log, log] });
    closeSync(log);
    return machine;
  }

  /** Waits until a shell command in it answers so. */
  async until(command: string, answer: RegExp): Promise<void> {
    const ask = () => this.run(command).catch((error: Error) => error.message);
    await eventually(ask, (text) => answer.test(text), 60_000);
  }

  /** What a shell command in it prints; rejects with its words when it fails. */
  async run(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)("runc", [
      ...this.#runc,
      "exec",
      "--env",
      "npm_config_offline=true",
      this.#name,
      "sh",
      "-c",
      command,
    ]);
    return stdout.trim();
  }

  end(): void {
    execFileSync("runc", [...this.#runc, "delete", "--force", this.#name]);
    for (const hierarchy of execFileSync(
      "sh",
      ["-c", `ls -d /sys/fs/cgroup/${this.#name} /sys/fs/cgroup/*/${this.#name} 2>/dev/null || true`],
      { encoding: "utf8" },
    )
      .trim()
      .split("\n"))
      if (existsSync(hierarchy)) execFileSync("find", [hierarchy, "-depth", "-type", "d", "-delete"]);
  }
}

function specOf(root: string, name: string, { args, env = [], shown }: Start) {
  const quiet = ["nosuid", "noexec", "nodev"];
  const mount = (destination: string, type: string, options: readonly string[] = quiet, source = type) => ({
    destination,
    type,
    source,
    options,
  });
  const allowed = capabilities();
  const unified = existsSync("/sys/fs/cgroup/cgroup.controllers");
  return {
    ociVersion: "1.0.2",
    hostname: "machine",
    root: { path: root },
    process: {
      user: { uid: 0, gid: 0 },
      cwd: "/",
      args,
      env: [`PATH=${PATH}`, "HOME=/root", ...env],
      capabilities: { bounding: allowed, effective: allowed, permitted: allowed },
    },
    mounts: [
      mount("/proc", "proc"),
      mount("/dev", "tmpfs", ["nosuid", "mode=755"]),
      mount("/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]),
      mount("/dev/shm", "tmpfs", [...quiet, "mode=1777"]),
      mount("/sys", "sysfs"),
      mount("/sys/fs/cgroup", "cgroup"),
      mount("/run", "tmpfs", ["mode=755"]),
      ...Object.entries(shown).map(([at, source]) => mount(at, "bind", ["rbind", "rprivate"], source)),
    ],
    linux: {
      cgroupsPath: `/${name}`,
      namespaces: ["mount", "pid", "ipc", "uts", "network", ...(unified ? ["cgroup"] : [])].map((type) => ({ type })),
      // Of loop devices the control alone: as in a container that was made before the host had more of them.
      devices: [{ path: "/dev/loop-control", type: "c", major: 10, minor: 237, fileMode: 0o600 }],
      resources: { devices: [{ allow: true, access: "rwm" }] },
    },
  };
}

/** All that this host's root has, by the numbers of linux/capability.h. */
function capabilities(): string[] {
  const bits = BigInt(`0x${/^CapBnd:\t(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0"}`);
  return capabilityNames.filter((_name, at) => (bits >> BigInt(at)) & 1n).map((name) => `CAP_${name}`);
}

const capabilityNames =
  "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE".split(
    " ",
  );
