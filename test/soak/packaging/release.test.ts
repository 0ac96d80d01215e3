import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { testImage } from "../../system/harness/test-image.ts";
import { startRegistry } from "./registry.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const version = "7.8.9-rc.1";

test("a release of a clone is published as it says, and installed by the install script from a registry, runs sandboxes", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-release-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const registry = await startRegistry();
  onTestFinished(() => void registry.close());
  const home = path.join(directory, "home");
  mkdirSync(home);
  const local = `127.0.0.1:${registry.port}`;
  writeFileSync(path.join(home, ".npmrc"), `@torpor:registry=http://${local}/\n//${local}/:_authToken=any\n`);
  const clone = path.join(directory, "clone");
  execFileSync("git", ["clone", "--quiet", "--no-hardlinks", checkout, clone]);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: clone, encoding: "utf8" }).trim();

  const release = (...args: string[]) =>
    execFileSync(path.join(clone, "scripts/release"), args, { cwd: clone, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  git("config", "user.email", "test@example.org");
  git("config", "user.name", "test");
  release("--bump", version);
  expect(() => release(), "with work that is not committed").toThrow();
  git("commit", "-qam", `Open ${version}`);
  const printed = release("--yes");
  expect(git("tag", "--points-at", "HEAD")).toBe(`v${version}`);
  expect(git("status", "--porcelain")).toBe("");
  expect(readFileSync(path.join(clone, "CHANGELOG.md"), "utf8")).toMatch(/^## 7\.8\.9-rc\.1 \(\d{4}-\d\d-\d\d\)$/m);
  expect(() => release("--yes"), "a second time").toThrow();
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: path.join(clone, "dist/release") });

  const publishing = printed.split("\n").filter((line) => line.includes("npm publish"));
  expect(publishing).toHaveLength(9);
  const environment = { ...process.env, HOME: home, npm_config_userconfig: path.join(home, ".npmrc") };
  for (const line of publishing) await promisify(execFile)("sh", ["-c", line], { cwd: clone, env: environment });
  for (const published of registry.packages.values()) expect(published["dist-tags"], published.name).toEqual({ next: version });

  const prefix = path.join(directory, "prefix");
  const data = path.join(directory, "data");
  const env = {
    ...environment,
    PATH: `${path.dirname(process.execPath)}:/usr/sbin:/usr/bin:/sbin:/bin`,
    TORPOR_DATA: data,
    TORPOR_LISTEN: "off",
  };
  const run = async (file: string, ...args: string[]) => (await promisify(execFile)(file, args, { cwd: directory, env })).stdout.trim();
  const torpor = (...args: string[]) => run(path.join(prefix, "bin/torpor"), ...args);
  const told = await run("sh", path.join(clone, "packaging/install.sh"), "--prefix", prefix, "--no-service", version);
  expect(told).toContain(`(${prefix}/lib/node_modules/@torpor/daemon/node_modules/@torpor/runsc-linux-`);
  expect(await torpor("--version")).toBe(version);
  onTestFinished(async () => void (await torpor("daemon", "stop", "--remove-data")));
  await torpor("daemon", "start");
  await torpor("image", "import", await testImage(), "debian");
  await torpor("create", "--name", "released", "debian");
  const pid = await torpor("exec", "released", "sh", "-c", "sleep 98765 >/dev/null 2>&1 & echo $!");
  await torpor("pause", "released");
  await torpor("resume", "--memory", "require", "released");
  expect(await torpor("exec", "released", "cat", `/proc/${pid}/cmdline`)).toBe("sleep\u000098765\u0000");
});
