import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testImage } from "../../system/harness/test-image.ts";
import { Machine, makeRoot } from "./machine.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const hasBuildah = spawnSync("buildah", ["--version"]).status === 0;

// Debian's buildah stands for Docker, which wants a daemon; the base image is made here under the name of the real one, which is in a registry.
test.skipIf(!hasBuildah)("the image of the Dockerfile runs sandboxes, and one that is paused outlives its container", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-image-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const storage = ["--root", path.join(directory, "storage"), "--runroot", path.join(directory, "run")];
  const buildah = (...args: string[]) => execFileSync("buildah", [...storage, ...args], { cwd: directory, encoding: "utf8" }).trim();
  onTestFinished(() => void buildah("rm", "--all"));
  const base = makeRoot(directory, ["bash"]);
  const scratch = buildah("from", "scratch");
  buildah("copy", "--quiet", scratch, base, "/");
  buildah(
    "config",
    "--env",
    "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt",
    "--env",
    "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    scratch,
  );
  buildah("commit", "--quiet", scratch, "docker.io/library/node:24-bookworm-slim");
  const context = path.join(directory, "context");
  execFileSync(path.join(checkout, "scripts/package"), [path.join(context, "dist/packages")], { stdio: ["ignore", "ignore", "inherit"] });
  const file = path.join(checkout, "packaging/Dockerfile");
  buildah("build", "--quiet", "--pull-never", "--isolation=chroot", "--tag", "torpord", "--file", file, context);

  const inspected = JSON.parse(buildah("inspect", "--type", "image", "torpord")) as {
    OCIv1: { config: { Entrypoint: string[]; Env: string[] } };
  };
  const { Entrypoint: entry, Env: env } = inspected.OCIv1.config;
  // As `docker run --init` does: PID 1 hands signals on, and reaps what loses its parent.
  const args = ["bash", "-c", 'trap "kill -TERM $!" TERM; "$@" & wait; wait', "init", ...entry];
  const root = buildah("mount", buildah("from", "--pull-never", "torpord"));
  const volume = path.join(directory, "volume");
  mkdirSync(volume);
  const start = { args, env, shown: { "/var/lib/torpor": volume, "/image.tar": await testImage() } };

  const first = Machine.start(directory, root, start);
  onTestFinished(() => first.end());
  await first.until("torpor info", /^engine +gvisor/m);
  await first.run("torpor doctor");
  await first.run("torpor image import /image.tar debian && torpor create --name lives debian && torpor create --name sleeps debian");
  const pid = await first.run("torpor exec sleeps sh -c 'sleep 98765 >/dev/null 2>&1 & echo $!'");
  await first.run("torpor exec lives sh -c 'echo kept >/root/note'");
  await first.run("torpor pause sleeps");
  first.end();

  const second = Machine.start(directory, root, start);
  await second.until("torpor info", /^engine +gvisor/m);
  await second.run("torpor resume --memory require sleeps && torpor start lives");
  expect(await second.run(`torpor exec sleeps cat /proc/${pid}/cmdline`)).toBe("sleep\u000098765\u0000");
  expect(await second.run("torpor exec lives cat /root/note")).toBe("kept");
  await second.run("torpor remove --force lives sleeps");
});
