import { formatSize } from "../values/size.ts";
import type { Finding, Host } from "./check.ts";

/** All looks at a host, in the order in which a person would mend what they find. */
export async function examine(host: Host): Promise<Finding[]> {
  return (await Promise.all([system, user, kernel, cgroup, tools, engine, network, room, memory, daemon].map((look) => look(host)))).flat();
}

function system({ platform, architecture }: Host): Finding {
  const fits = platform === "linux" && ["x64", "arm64"].includes(architecture);
  return judged(
    "system",
    fits,
    `${platform} ${architecture}`,
    "torpord runs on Linux on x64 and arm64; the client alone runs anywhere (--socket, TORPOR_URL).",
  );
}

function user({ root }: Host): Finding {
  return judged("user", root, root ? "root" : "not root", "Start torpord as root, by sudo: it mounts disks and makes networks.");
}

/** 4.15 is what gVisor's systrap needs; 5.6 has the time namespaces and clone3 that newer engines expect. */
function kernel({ kernel: release }: Host): Finding {
  const [major = 0, minor = 0] = release.split(".").map((part) => Number.parseInt(part, 10));
  const number = major * 1000 + minor;
  if (number >= 5006) return { name: "kernel", state: "ok", found: release };
  const state = number >= 4015 ? "notice" : "fault";
  return { name: "kernel", state, found: release, mend: "Boot a kernel of 5.6 or later; older than 4.15 runs no sandbox." };
}

async function cgroup({ read }: Host): Promise<Finding> {
  const controllers = await read("/sys/fs/cgroup/cgroup.controllers");
  const second = controllers !== undefined && controllers.trim() !== "";
  const present = second ? controllers.trim().split(/\s+/) : await firstVersion(read);
  const missing = ["memory", "cpu", "pids"].filter((name) => !present.includes(name));
  const found = `${second ? "v2" : "v1"}${missing.length === 0 ? "" : `, without ${missing.join(", ")}`}`;
  return judged(
    "cgroups",
    missing.length === 0,
    found,
    "Boot with systemd.unified_cgroup_hierarchy=1, or mount the controllers below /sys/fs/cgroup.",
  );
}

async function firstVersion(read: Host["read"]): Promise<string[]> {
  const lines = (await read("/proc/cgroups"))?.split("\n").slice(1) ?? [];
  return lines.map((line) => line.split("\t")).flatMap(([name, , , enabled]) => (name !== undefined && enabled === "1" ? [name] : []));
}

/** What torpord starts, with the Debian package that has it. */
const programs: Readonly<Record<string, string>> = {
  ip: "iproute2",
  nft: "nftables",
  losetup: "mount",
  "mkfs.ext4": "e2fsprogs",
  "mkfs.xfs": "xfsprogs",
  skopeo: "skopeo",
  umoci: "umoci",
};
/** For building an image without a registry only. */
const optional: Readonly<Record<string, string>> = { mmdebstrap: "mmdebstrap" };

async function tools(host: Host): Promise<Finding[]> {
  const missing = await missingOf(host, programs);
  const missed = await missingOf(host, optional);
  const needed = judged(
    "tools",
    missing.length === 0,
    missing.length === 0 ? Object.keys(programs).join(", ") : `without ${missing.join(", ")}`,
    `apt-get install ${missing.map((name) => programs[name]).join(" ")}`,
  );
  if (missed.length === 0) return [needed];
  const mend = `apt-get install ${missed.map((name) => optional[name]).join(" ")}, for torpor image build.`;
  return [needed, { name: "tools to build images", state: "notice", found: `without ${missed.join(", ")}`, mend }];
}

async function missingOf({ program }: Host, wanted: Readonly<Record<string, string>>): Promise<string[]> {
  const found = await Promise.all(Object.keys(wanted).map(async (name) => ((await program(name)) === undefined ? name : undefined)));
  return found.filter((name) => name !== undefined);
}

/** That of the daemon that runs, else the first that one would find. */
async function engine({ engines, run, daemon: ask }: Host): Promise<Finding> {
  const running = await ask();
  if (running !== undefined) return { name: "engine", state: "ok", found: running.engine };
  const mend = "npm install -g @torpor/daemon brings the pinned runsc, scripts/bootstrap builds it; TORPOR_RUNSC names another one.";
  const [path] = await engines();
  const version = path === undefined ? undefined : await run(path, "--version");
  if (version === undefined) return judged("engine", false, path === undefined ? "there is no runsc" : `${path} does not start`, mend);
  const [, year] = /(?<=[\s-])(20\d{2})\d{4}/.exec(version) ?? [];
  const old = year !== undefined && Number(year) < 2025;
  return judged("engine", !old, `${version.split("\n", 1)[0]} (${path})`, `It is too old to pause sandboxes: ${mend}`);
}

async function network({ run, root, read }: Host): Promise<Finding> {
  if (!root) return { name: "network", state: "notice", found: "not looked at: needs root", mend: "sudo torpor doctor" };
  const rules = await run("nft", "list", "tables");
  const forwarding = (await read("/proc/sys/net/ipv4/ip_forward"))?.trim();
  const found = `nftables ${rules === undefined ? "does not answer" : "answers"}, ip_forward ${forwarding ?? "unknown"}`;
  return judged("network", rules !== undefined, found, "Load nf_tables (modprobe nf_tables), or create sandboxes with --network none.");
}

const leastBytes = 5 * 2 ** 30;

async function room({ space, data }: Host): Promise<Finding[]> {
  const { freeBytes, type } = await space(data);
  const roomy = judged(
    "room",
    freeBytes >= leastBytes,
    `${formatSize(freeBytes)} free for ${data}`,
    `Images, disks and checkpoints need more: free some, or name another place by TORPOR_DATA.`,
  );
  const copies = ["xfs", "btrfs", "bcachefs"].includes(type);
  const found = copies ? `${type}, by reference` : `${type}: torpord makes an XFS pool in a file of its own`;
  return [roomy, { name: "copies of disks", state: "ok", found }];
}

function memory({ memoryBytes }: Host): Finding {
  const found = formatSize(memoryBytes);
  if (memoryBytes >= 2 ** 30) return { name: "memory", state: "ok", found };
  return { name: "memory", state: "notice", found, mend: "A sandbox has 512 MiB by default: create smaller ones by --memory." };
}

async function daemon({ daemon: ask }: Host): Promise<Finding> {
  const running = await ask();
  if (running === undefined) return { name: "torpord", state: "notice", found: "is not running", mend: "torpor daemon start" };
  if (running.warning === null) return { name: "torpord", state: "ok", found: `runs, ${running.version}` };
  return { name: "torpord", state: "notice", found: running.warning, mend: "docs/operations.md tells of pools." };
}

function judged(name: string, fine: boolean, found: string, mend: string): Finding {
  return fine ? { name, state: "ok", found } : { name, state: "fault", found, mend };
}
