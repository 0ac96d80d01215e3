import { expect, test } from "vitest";
import { GuideWorld } from "./harness/guide-world.ts";
import { torpor } from "./harness/torpor-command.ts";
import { newerRequests, olderRequests } from "./harness/wheels.ts";

const version = ["python", "-c", "import requests; print(requests.__version__)"];

test("pause, resume and fork a sandbox with the commands of the guide, from a registry and a package index", async () => {
  await using world = await GuideWorld.open();
  const { daemon, outside } = world;
  const newer = newerRequests(world.wheels);
  /** A command line that succeeds; its stdout. */
  const does = async (...args: string[]) => {
    const { code, stdout, stderr } = await torpor(daemon.socket, ...args);
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
    return stdout;
  };

  // Create a sandbox and install a package in it.
  const base = (await does("create", "--name", "base", "--memory", "512MiB", "python:3.12")).trim();
  expect(base).toMatch(/^sb_/);
  expect(await does("exec", "base", "pip", "install", "requests")).toContain(`requests-${newer}`);
  expect(outside.seen.some(({ type, text }) => type === "request" && text.includes(`requests-${newer}`))).toBe(true);

  // Pause it, which saves its memory to disk. The list shows it as paused.
  await does("pause", "base");
  expect(rows(await does("list"))).toEqual([
    expect.objectContaining({ ID: base, NAME: "base", IMAGE: "python:3.12", STATE: "paused", MEMORY: "512 MiB" }),
  ]);
  const refused = await torpor(daemon.socket, "exec", "base", "true");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("sandbox base is paused: resume it with torpor resume base");

  // Resume it. Its processes carry on where they left off.
  await does("resume", "base");

  // Fork it twice. Each fork prints its ID.
  const tryA = (await does("fork", "--name", "try-a", "base")).trim();
  const tryB = (await does("fork", "--name", "try-b", "base")).trim();
  expect(new Set([base, tryA, tryB]).size).toBe(3);
  expect(rows(await does("list")).map(({ ID, NAME, STATE, MEMORY }) => [ID, NAME, STATE, MEMORY])).toEqual([
    [base, "base", "running", "512 MiB"],
    [tryA, "try-a", "running", "512 MiB"],
    [tryB, "try-b", "running", "512 MiB"],
  ]);

  // Change one fork only. The first prints 2.31.0, the second base's version.
  await does("exec", "try-a", "pip", "install", `requests==${olderRequests}`);
  expect(await does("exec", "try-a", ...version)).toBe(`${olderRequests}\n`);
  expect(await does("exec", "try-b", ...version)).toBe(`${newer}\n`);
  expect(await does("exec", "base", ...version)).toBe(`${newer}\n`);

  // Remove all three.
  expect(await does("remove", "--force", "try-a", "try-b", "base")).toBe("try-a\ntry-b\nbase\n");
  expect(rows(await does("list"))).toEqual([]);
});

/** The lines of a table by its headings; columns are two spaces or more apart. */
function rows(table: string): Record<string, string>[] {
  const [headings = [], ...lines] = table
    .trimEnd()
    .split("\n")
    .map((line) => line.trim().split(/ {2,}/));
  return lines.map((cells) => Object.fromEntries(headings.map((heading, i) => [heading, cells[i] ?? ""])));
}
