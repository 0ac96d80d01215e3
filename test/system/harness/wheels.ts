import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { testImage } from "./test-image.ts";

export const olderRequests = "2.31.0";

/** The packages that the tests' index serves: `requests` in two versions and what it needs; fetched once a machine, by pip. */
export async function testWheels(): Promise<string> {
  const directory = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", "test-wheels");
  if (!existsSync(directory)) {
    mkdirSync(path.dirname(directory), { recursive: true });
    const fresh = mkdtempSync(`${directory}.`);
    try {
      await download(fresh, "requests", "certifi", "charset-normalizer", "idna", "urllib3");
      await download(fresh, `requests==${olderRequests}`);
      // Another run may have come first: its are as good.
      if (!existsSync(directory)) renameSync(fresh, directory);
    } finally {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  return directory;
}

/** Of the wheels in it, the version of `requests` that a plain install takes. */
export function newerRequests(directory: string): string {
  const versions = readdirSync(directory).flatMap((file) => /^requests-([\d.]+)-/.exec(file)?.[1] ?? []);
  const [newer, ...more] = versions.filter((version) => version !== olderRequests);
  if (newer === undefined || more.length > 0) {
    throw new Error(`${directory} has requests ${versions.join(", ")} and should have ${olderRequests} and one newer`);
  }
  return newer;
}

/** Wheels for any platform and Python 3, whatever the host has. */
async function download(directory: string, ...packages: string[]): Promise<void> {
  const args = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none"];
  if (hasPip()) {
    execFileSync("pip3", [...args, "--dest", directory, ...packages], { stdio: ["ignore", "ignore", "pipe"] });
    return;
  }
  // The test image has a pip.
  const root = mkdtempSync(path.join(tmpdir(), "torpor-wheels-"));
  try {
    execFileSync("tar", ["-xf", await testImage(), "-C", root, "--exclude=./dev/*"]);
    cpSync("/etc/resolv.conf", path.join(root, "etc/resolv.conf"));
    execFileSync("chroot", [root, "pip3", ...args, "--dest", "/wheels", ...packages], { stdio: ["ignore", "ignore", "pipe"] });
    cpSync(path.join(root, "wheels"), directory, { recursive: true });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function hasPip(): boolean {
  try {
    execFileSync("pip3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
