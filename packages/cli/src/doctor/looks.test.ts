import { expect, test } from "vitest";
import type { Finding, Host } from "./check.ts";
import { examine } from "./looks.ts";

/** A host on which all is well, but for what is given. */
const host = (other: Partial<Host> = {}): Host => ({
  root: true,
  platform: "linux",
  architecture: "x64",
  kernel: "6.12.1-amd64",
  data: "/var/lib/torpor",
  memoryBytes: 8 * 2 ** 30,
  read: async (path) =>
    path.endsWith("cgroup.controllers") ? "cpuset cpu io memory pids\n" : path.endsWith("ip_forward") ? "1\n" : undefined,
  program: async (name) => `/usr/bin/${name}`,
  engines: async () => ["/usr/bin/runsc"],
  run: async (_program, ...args) => (args[0] === "--version" ? "runsc version 20260905.0-160fafc42237\nspec: 1.2.0\n" : ""),
  space: async () => ({ freeBytes: 50 * 2 ** 30, type: "xfs" }),
  daemon: async () => undefined,
  ...other,
});

const faults = async (given: Host) => (await examine(given)).filter(({ state }) => state === "fault");

test("of a host on which all is well nothing is a fault, and that no daemon runs is none", async () => {
  const findings = await examine(host());
  expect(findings.filter(({ state }) => state !== "ok").map(({ name }) => name)).toEqual(["torpord"]);
  const running = { version: "0.1.0", engine: "gvisor 2026", warning: null };
  expect((await examine(host({ daemon: async () => running }))).every(({ state }) => state === "ok")).toBe(true);
});

const without = (...names: string[]) => ({ program: async (name: string) => (names.includes(name) ? undefined : `/usr/bin/${name}`) });

test.each<[string, Partial<Host>, Partial<Finding>]>([
  ["no Linux", { platform: "darwin", architecture: "arm64" }, { name: "system", found: "darwin arm64" }],
  ["no root", { root: false }, { name: "user", mend: expect.stringContaining("sudo") }],
  ["an old kernel", { kernel: "4.9.0" }, { name: "kernel", found: "4.9.0" }],
  ["a controller that is missing", { read: async () => "cpu pids" }, { name: "cgroups", found: "v2, without memory" }],
  ["tools that are missing", without("nft", "mkfs.xfs"), { name: "tools", mend: "apt-get install nftables xfsprogs" }],
  ["no engine", { engines: async () => [] }, { name: "engine", mend: expect.stringContaining("bootstrap") }],
  [
    "an old engine",
    { run: async () => "runsc version release-20221219.0\n" },
    { name: "engine", mend: expect.stringContaining("too old") },
  ],
  ["no nftables", { run: async (_program, ...args) => (args[0] === "list" ? undefined : "runsc version 20260905.0") }, { name: "network" }],
  [
    "a full disk",
    { space: async () => ({ freeBytes: 2 ** 30, type: "ext4" }) },
    { name: "room", found: expect.stringContaining("1.0 GiB") },
  ],
])("%s is a fault, and the only one, and has a remedy", async (_what, other, fault) => {
  expect(await faults(host(other))).toEqual([{ state: "fault", found: expect.any(String), mend: expect.any(String), ...fault }]);
});

test("of cgroups of the first version the kernel's list tells", async () => {
  const list = "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t2\t1\t1\nmemory\t3\t1\t0\npids\t4\t1\t1\n";
  const read: Host["read"] = async (path) => (path === "/proc/cgroups" ? list : undefined);
  expect(await faults(host({ read }))).toEqual([expect.objectContaining({ name: "cgroups", found: "v1, without memory" })]);
});
