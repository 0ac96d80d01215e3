import { access, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { temporaryImages } from "./temporary-images.ts";

const limitMs = 300_000;

test("the default image is a Debian with Python, pip and git, and nothing of this host", { timeout: limitMs }, async () => {
  await using it = await temporaryImages();
  const lines: string[] = [];
  const image = await it.images.build({ reference: "torpor/debian" }, (line) => lines.push(line.text));
  expect(image).toMatchObject({
    source: "mmdebstrap",
    references: ["torpor/debian:latest"],
    config: { env: { PIP_BREAK_SYSTEM_PACKAGES: "1" } },
  });
  expect(lines.some((line) => line.includes("installing"))).toBe(true);
  const root = it.images.locate(image.digest);
  const inside = async (...command: string[]) => (await run("chroot", [root, ...command])).stdout;
  expect(await inside("python", "-c", "import sys, ssl, venv; print(sys.version_info.major)")).toBe("3\n");
  expect(await inside("pip", "--version")).toMatch(/^pip /);
  expect(await inside("git", "--version")).toMatch(/^git version/);
  expect(await readlink(path.join(root, "usr/local/bin/python"))).toBe("../../bin/python3");
  expect(await readFile(path.join(root, "etc/hostname"), "utf8")).toBe("localhost\n");
  expect(await readFile(path.join(root, "etc/resolv.conf"), "utf8")).toBe("");
  await expect(access(path.join(root, "etc/apt/apt.conf.d/99mmdebstrap"))).rejects.toThrow("ENOENT");
});

test("packages that Debian has not are named, and a cancelled build leaves nothing", { timeout: limitMs }, async () => {
  await using it = await temporaryImages();
  await expect(it.images.build({ reference: "x", packages: ["no-such-package-anywhere"] }, () => {})).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("no-such-package-anywhere"),
  });
  const controller = new AbortController();
  const onProgress = ({ text }: { text: string }) => text.includes("apt-get update") && controller.abort();
  await expect(it.images.build({ reference: "x", packages: [] }, onProgress, controller.signal)).rejects.toThrow();
  expect(await it.leftovers()).toEqual([]);
  expect(await it.images.list()).toEqual([]);
});
