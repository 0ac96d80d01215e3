import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { readProgram } from "../../system/harness/elf.ts";

const checkout = fileURLToPath(new URL("../../..", import.meta.url));
const programs = { "native-linux-arm64": ["torpor", "torpor-connect", "torpor-guest", "torpor-shim"], "runsc-linux-arm64": ["runsc"] };
const pin = JSON.parse(readFileSync(path.join(checkout, "packages/daemon/src/engines/gvisor/pin.json"), "utf8")) as { version: string };

test("the packages for arm64 have static programs of that processor, and the pinned engine", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-arm64-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  execFileSync(path.join(checkout, "scripts/package"), [path.join(directory, "packages")], {
    cwd: checkout,
    env: { ...process.env, TORPOR_ARCHES: "arm64" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  for (const [name, files] of Object.entries(programs)) {
    const archives = execFileSync("sh", ["-c", `ls packages/torpor-${name}-*.tgz`], { cwd: directory, encoding: "utf8" }).trim();
    execFileSync("tar", ["-xzf", archives, "--one-top-level=unpacked", "--strip-components=1"], { cwd: directory });
    for (const file of files)
      expect(readProgram(path.join(directory, "unpacked/bin", file)), file).toEqual({ processor: "arm64", isStatic: true });
  }
  const bin = path.join(directory, "unpacked/bin");
  expect(readFileSync(path.join(bin, "runsc")).includes(pin.version)).toBe(true);

  // Debian's qemu-user-static: no machine of this processor is at hand, and it takes no sandbox to say a version.
  if (spawnSync("qemu-aarch64-static", ["--version"]).status !== 0) return;
  const emulated = (file: string, ...args: string[]) =>
    execFileSync("qemu-aarch64-static", [path.join(bin, file), ...args], { encoding: "utf8" });
  expect(emulated("runsc", "--version")).toContain(`runsc version ${pin.version}`);
  expect(emulated("torpor-guest", "version")).not.toBe("");
});
