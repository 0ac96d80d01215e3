import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { eventually } from "./inside.ts";

/** What Torpor makes on a host, named so that what a test left behind can be told. */
export interface HostState {
  readonly processes: readonly string[];
  readonly mounts: readonly string[];
  readonly loops: readonly string[];
  readonly namespaces: readonly string[];
  readonly interfaces: readonly string[];
  readonly tables: readonly string[];
  readonly cgroups: readonly string[];
  readonly runtimes: readonly string[];
}

/**
 * The part of the host's state that names one of the marks: data directories and instances of this run. Another checkout may run its
 * tests at the same time, so what others hold does not count.
 */
export function readHostState(marks: readonly string[]): HostState {
  const ours = (line: string) => marks.some((mark) => line.includes(mark));
  const instances = marks.filter((mark) => /^[0-9a-f]{8}$/.test(mark));
  const links = lines(run("ip", "-o", "link", "show"));
  return {
    processes: processes().filter(ours),
    mounts: lines(readFileSync("/proc/mounts", "utf8")).filter(ours),
    loops: globSync("/sys/block/loop*/loop/backing_file").map(read).filter(ours),
    namespaces: existsSync("/var/run/netns") ? readdirSync("/var/run/netns").filter(ours) : [],
    interfaces: links.filter((line) => instances.some((instance) => line.includes(`tp${instance.slice(0, 4)}`))),
    tables: lines(run("nft", "list", "tables")).filter(ours),
    cgroups: globSync("/sys/fs/cgroup/{torpor-*,*/torpor-*}").filter(ours),
    runtimes: existsSync("/run/torpor") ? readdirSync("/run/torpor").filter(ours) : [],
  };
}

/** What is left for good, one line each: the kernel takes interfaces and loop devices down in its own time, after the call that asked for it. */
export async function leftBehind(marks: readonly string[]): Promise<string[]> {
  const look = () => leftovers(readHostState(marks));
  return eventually(
    async () => look(),
    (left) => left.length === 0,
    10_000,
  ).catch(look);
}

/** One line a leftover. */
export function leftovers(state: HostState): string[] {
  return Object.entries(state).flatMap(([kind, items]) => (items as readonly string[]).map((item) => `${kind}: ${item}`));
}

function processes(): string[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((file) => {
    const command = read(file).replaceAll("\0", " ");
    return command === "" || file === `/proc/${process.pid}/cmdline` ? [] : [`${file.split("/")[2]} ${command}`];
  });
}

/** A process may end while it is looked at. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: "utf8" });
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
