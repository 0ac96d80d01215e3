import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/** What the tests use inside; the names tell the file in the cache. */
const packages = ["ca-certificates", "curl", "git", "iproute2", "procps", "python3", "python3-pip", "python3-venv"];

/** A root file system of Debian with Python, made once a machine (about 45 s) and kept in the user's cache; whoever comes meanwhile waits for it. */
export async function testImage(): Promise<string> {
  const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", "test-images");
  const tar = path.join(cache, `debian-${suite()}-${packages.length}-${packages.join("-").length}.tar`);
  if (!existsSync(tar)) {
    mkdirSync(cache, { recursive: true });
    const sources = `${tar}.${process.pid}.sources`;
    const fresh = `${tar}.${process.pid}`;
    writeFileSync(sources, hostSources());
    execFileSync(
      "flock",
      [
        `${tar}.lock`,
        "sh",
        "-c",
        'test -e "$0" || { made=$1; shift; "$@" && mv "$made" "$0"; }',
        tar,
        fresh,
        "mmdebstrap",
        "--variant=minbase",
        `--include=${packages.join(",")}`,
        "--customize-hook=ln -s python3 $1/usr/bin/python",
        "--format=tar",
        suite(),
        fresh,
        sources,
      ],
      { stdio: "ignore" },
    );
  }
  return tar;
}

/** The host's own sources of Debian, its comments aside. */
export function hostSources(): string {
  return readFileSync("/etc/apt/sources.list.d/debian.sources", "utf8").replaceAll(/^#.*\n/gm, "");
}

export function suite(): string {
  return /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "stable";
}
