import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir, readFile, statfs } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, release, totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Site } from "../daemon/site.ts";
import { answers, withClient } from "../daemon/site.ts";
import type { Host } from "./check.ts";

const execute = promisify(execFile);

export function thisHost(site: Site): Host {
  let told: ReturnType<Host["daemon"]> | undefined;
  return {
    root: process.getuid?.() === 0,
    platform: process.platform,
    architecture: process.arch,
    kernel: release(),
    data: site.data,
    memoryBytes: totalmem(),
    read: (path) => readFile(path, "utf8").catch(() => undefined),
    program,
    engines: () => engines(site.data),
    run: (file, ...args) =>
      execute(file, args, { timeout: 10_000 }).then(
        ({ stdout }) => stdout,
        () => undefined,
      ),
    space: async (path) => {
      const facts = await statfs(await existing(path));
      return { freeBytes: facts.bavail * facts.bsize, type: types[facts.type] ?? `file system ${facts.type.toString(16)}` };
    },
    daemon: () => {
      told ??= daemonOf(site);
      return told;
    },
  };
}

/** As linux/magic.h has them. */
const types: Readonly<Record<number, string>> = {
  1481003842: "xfs",
  2435016766: "btrfs",
  3393526350: "bcachefs",
  61267: "ext4",
  16914836: "tmpfs",
  2035054128: "overlay",
  801189825: "zfs",
};

async function daemonOf(site: Site): ReturnType<Host["daemon"]> {
  if (!(await answers(site).catch(() => false))) return undefined;
  const { version, engine, pool } = await withClient(site, (client) => client.info());
  return { version, engine: `${engine.name} ${engine.version} (${engine.path})`, warning: pool.warning };
}

/** As torpord looks: named, kept by an earlier one, installed with torpord, built by scripts/bootstrap, in the PATH. */
async function engines(data: string): Promise<string[]> {
  const { TORPOR_RUNSC: named, XDG_CACHE_HOME: cache = join(homedir(), ".cache") } = process.env;
  if (named !== undefined) return [named];
  const kept = join(data, "engines", "runsc");
  const built = join(cache, "torpor");
  const inPath = await program("runsc");
  return [
    ...(await readdir(kept).catch(() => [])).map((name) => join(kept, name, "runsc")),
    ...installed(),
    ...(await readdir(built).catch(() => [])).filter((name) => name.startsWith("runsc-")).map((name) => join(built, name, "runsc")),
    ...(inPath === undefined ? [] : [inPath]),
  ];
}

/** npm puts it beside torpord, or below it. */
function installed(): string[] {
  try {
    const torpord = createRequire(import.meta.url).resolve("@torpor/daemon/main");
    return [createRequire(torpord).resolve(`@torpor/runsc-${process.platform}-${process.arch}/bin/runsc`)];
  } catch {
    return [];
  }
}

async function program(name: string): Promise<string | undefined> {
  // A user's PATH often lacks these, and torpord is root.
  for (const directory of [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"]) {
    const path = join(directory, name);
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (there) return path;
  }
  return undefined;
}

/** The directory itself, or the closest above it that is there. */
async function existing(path: string): Promise<string> {
  const there = await access(path).then(
    () => true,
    () => false,
  );
  return there || path === "/" ? path : existing(dirname(path));
}
