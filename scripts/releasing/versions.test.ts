import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { dateChangelog, readVersions, writeVersion } from "./versions.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = ["package.json", "package-lock.json", "CHANGELOG.md", "sdks/python/pyproject.toml", "{packages,sdks,scripts}/*/package.json"];

/** The files that hold a version, apart. */
function copied(): string {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-versions-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const file of globSync(files, { cwd: root })) cpSync(path.join(root, file), path.join(directory, file), { recursive: true });
  return directory;
}

test("all packages, the lock file, the Python client and the changelog have one version", () => {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
  const found = readVersions(root);
  expect(found.filter((at) => at.version !== version)).toEqual([]);
  expect(found.length).toBeGreaterThan(20);
});

test("a new version is written everywhere, and nothing else changes", () => {
  const directory = copied();
  const [before] = readVersions(directory);
  const was = before?.version ?? "none";
  writeVersion(directory, was, "7.8.9");
  expect(new Set(readVersions(directory).map(({ version }) => version))).toEqual(new Set(["7.8.9"]));
  expect(readFileSync(path.join(directory, "CHANGELOG.md"), "utf8")).toMatch(/^## 7\.8\.9, unreleased$/m);
  writeVersion(directory, "7.8.9", was);
  for (const file of globSync(files, { cwd: root })) {
    expect(readFileSync(path.join(directory, file), "utf8"), file).toBe(readFileSync(path.join(root, file), "utf8"));
  }
});

test("a released version's heading has its day, and the next one comes before it", () => {
  expect(dateChangelog("# C\n\n## 1.0.0, unreleased\n\n- x\n\n## 0.9.0 (2020-01-01)\n", "2021-02-03")).toBe(
    "# C\n\n## 1.0.0 (2021-02-03)\n\n- x\n\n## 0.9.0 (2020-01-01)\n",
  );
});
