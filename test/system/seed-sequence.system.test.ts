import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readersShell } from "../documents/shell.ts";
import { GuideWorld } from "./harness/guide-world.ts";
import { torpor } from "./harness/torpor-command.ts";
import { newerRequests, olderRequests } from "./harness/wheels.ts";

test("pause, resume and fork a sandbox with the commands of the guide, from a registry and a package index", async () => {
  await using world = await GuideWorld.open();
  const { daemon, outside } = world;
  const newer = newerRequests(world.wheels);
  const shell = readersShell({ TORPOR_SOCKET: daemon.socket });
  /** As a reader types it; its stdout, in lines. */
  const types = async (commands: string) => {
    const { stdout } = await promisify(execFile)("bash", ["-euc", commands], shell);
    return stdout.trimEnd().split("\n");
  };

  const [base = "", ...installing] = await types(`
# Create a sandbox and install a package in it.
torpor create --name base --memory 512MiB python:3.12
torpor exec base pip install requests
`);
  expect(base).toMatch(/^sb_/);
  expect(installing.join("\n")).toContain(`requests-${newer}`);
  expect(outside.seen.some(({ type, text }) => type === "request" && text.includes(`requests-${newer}`))).toBe(true);

  const [paused, ...list] = await types(`
# Pause it, which saves its memory to disk. The list shows it as paused.
torpor pause base
torpor list
`);
  expect(paused).toBe("base");
  expect(rows(list)).toEqual([
    expect.objectContaining({ ID: base, NAME: "base", IMAGE: "python:3.12", STATE: "paused", MEMORY: "512 MiB" }),
  ]);
  const refused = await torpor(daemon.socket, "exec", "base", "true");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("sandbox base is paused: resume it with torpor resume base");

  const [resumed, tryA, tryB, ...more] = await types(`
# Resume it. Its processes carry on where they left off.
torpor resume base

# Fork it twice. Each fork prints its ID.
torpor fork --name try-a base
torpor fork --name try-b base
`);
  expect([resumed, new Set([base, tryA, tryB]).size, more]).toEqual(["base", 3, []]);
  expect(rows(await types("torpor list")).map(({ ID, NAME, STATE, MEMORY }) => [ID, NAME, STATE, MEMORY])).toEqual([
    [base, "base", "running", "512 MiB"],
    [tryA, "try-a", "running", "512 MiB"],
    [tryB, "try-b", "running", "512 MiB"],
  ]);

  const changing = await types(`
# Change one fork only. The first prints 2.31.0, the second base's version.
torpor exec try-a pip install requests==2.31.0
torpor exec try-a python -c 'import requests; print(requests.__version__)'
torpor exec try-b python -c 'import requests; print(requests.__version__)'
`);
  expect(olderRequests).toBe("2.31.0");
  expect(changing.slice(-2)).toEqual([olderRequests, newer]);
  expect(await types("torpor exec base python -c 'import requests; print(requests.__version__)'")).toEqual([newer]);

  const removing = await types(`
# Remove all three.
torpor remove --force try-a try-b base
`);
  expect(removing).toEqual(["try-a", "try-b", "base"]);
  expect(rows(await types("torpor list"))).toEqual([]);
});

/** The lines of a table by its headings; columns are two spaces or more apart. */
function rows([headings = "", ...lines]: readonly string[]): Record<string, string>[] {
  const cellsOf = (line: string) => line.trim().split(/ {2,}/);
  const names = cellsOf(headings);
  return lines.map((line) => Object.fromEntries(names.map((name, i) => [name, cellsOf(line)[i] ?? ""])));
}
