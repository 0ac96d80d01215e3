import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { access, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Image } from "@torpor/contract";
import { expect, onTestFinished, test } from "vitest";
import { blocksFor } from "../documents/blocks.ts";
import { likeness, shownIn } from "../documents/shown.ts";
import { leftBehind } from "./harness/host-state.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const blocks = blocksFor(import.meta.url);
const [commands, yours] = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);
const shown = blocks.filter(({ language }) => language === "text").flatMap(({ text }) => text.trimEnd().split("\n"));
const [first] = blocks.filter(({ language }) => language === "console").flatMap(shownIn);

test("quickstart runs the main job, then the README's commands work, and the last one leaves nothing", { timeout: 600_000 }, async () => {
  const data = mkdtempSync(path.join(tmpdir(), "torpor-quickstart-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const env = { ...process.env, TORPOR_DATA: data, NO_COLOR: "1" };
  const run = (command: string) =>
    execFileSync("bash", ["-euc", command], { cwd: root, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void run("scripts/torpor daemon stop --remove-data"));

  // The other line is what runs this test.
  expect(commands).toMatch(/^\.\/quickstart .*\nnpm test .*\n$/);
  const told = run(first?.command ?? "exit 1");
  const [, before, after, pid] = /count (\d+) before, (\d+) now, pid (\d+) as before/.exec(told) ?? [];
  expect(Number(after)).toBeGreaterThan(Number(before));
  for (const child of ["quickstart-fork-1", "quickstart-fork-2"]) {
    const [, count, same] = new RegExp(`${child} counts at (\\d+) \\(pid (\\d+)\\)`).exec(told) ?? [];
    expect(Number(count)).toBeGreaterThan(Number(after));
    expect(same).toBe(pid);
  }

  const [image] = JSON.parse(run("scripts/torpor image list --json")) as [Image];
  await checkDefaultImage(image, path.join(data, "pool/images", image.digest.replace(":", "-"), "rootfs"));
  const lines = told.split("\n").map(spaced);
  for (const line of shown) expect(lines).toContainEqual(expect.stringMatching(likeness(spaced(line))));

  const [, base, code] = /^ {2}(http:\/\/127\.0\.0\.1:\d+)\/sandboxes\/quickstart#code=([a-z2-7]{32})$/m.exec(told) ?? [];
  const login = await fetch(`${base}/v1/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  expect(login.status).toBe(200);

  const printed = run(yours ?? "exit 1").split("\n");
  // create and fork print ids, list a table with the paused one, the fork has the file.
  expect(printed[0]).toMatch(/^sb_/);
  expect(printed.find((line) => line.includes(" base "))).toContain("paused");
  expect(printed).toContain("hello");

  const { instance } = JSON.parse(readFileSync(path.join(data, "instance.json"), "utf8")) as { instance: string };
  run("scripts/torpor daemon stop --remove-data");
  expect(await leftBehind([data, instance])).toEqual([]);
});

/** It built the default image: a Debian with Python, pip and git, and nothing of this host. */
async function checkDefaultImage(image: Image, root: string): Promise<void> {
  expect(image).toMatchObject({
    source: "mmdebstrap",
    references: ["debian:latest"],
    config: { env: { PIP_BREAK_SYSTEM_PACKAGES: "1" } },
  });
  const inside = (...command: string[]) => execFileSync("chroot", [root, ...command], { encoding: "utf8" });
  expect(inside("python", "-c", "import sys, ssl, venv; print(sys.version_info.major)")).toBe("3\n");
  expect(inside("pip", "--version")).toMatch(/^pip /);
  expect(inside("git", "--version")).toMatch(/^git version/);
  expect(await readlink(path.join(root, "usr/local/bin/python"))).toBe("../../bin/python3");
  expect(await readFile(path.join(root, "etc/hostname"), "utf8")).toBe("localhost\n");
  expect(await readFile(path.join(root, "etc/resolv.conf"), "utf8")).toBe("");
  await expect(access(path.join(root, "etc/apt/apt.conf.d/99mmdebstrap"))).rejects.toThrow("ENOENT");
}

/** How wide a column is depends on its numbers. */
function spaced(line: string): string {
  return line.trim().replaceAll(/ +/g, " ");
}
