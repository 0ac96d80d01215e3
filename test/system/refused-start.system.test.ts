import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { refusedStart } from "./harness/refused-start.ts";
import { sharedClient } from "./harness/shared.ts";

test("an engine that is too old is refused by its name", async () => {
  const { code, stderr, left } = await refusedStart({
    env: { TORPOR_RUNSC: fakeRunsc('echo "runsc version release-20221219.0"; echo "spec: 1.0.2"') },
  });
  expect(stderr).toMatch(
    /^torpord: No usable gVisor engine \(runsc\) is on this host: .*version release-20221219.0 is a distribution's package of 20221219, too old\nhint: .*run scripts\/bootstrap/,
  );
  expect({ code, left }).toEqual({ code: 1, left: [] });
});

test("an engine without what Torpor needs is refused whatever its version says", async () => {
  const { code, stderr } = await refusedStart({ env: { TORPOR_RUNSC: fakeRunsc('echo "runsc version release-20991231.0"') } });
  expect(stderr).toMatch(/version release-20991231.0 has no -background: large sandboxes/);
  expect(code).toBe(1);
});

test("a program that is no engine, and one that is not there, are refused", async () => {
  expect(await refusedStart({ env: { TORPOR_RUNSC: fakeRunsc("echo hello") } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("it does not say that it is runsc"),
  });
  expect(await refusedStart({ env: { TORPOR_RUNSC: "/nonexistent/runsc" } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("/nonexistent/runsc (TORPOR_RUNSC) is not a program"),
  });
});

test("without root it does not start, and says why", async () => {
  const { code, stderr, left } = await refusedStart({ asNobody: true });
  expect(stderr).toBe("torpord: torpord needs root: it makes mounts, network namespaces and control groups\nhint: Start it with sudo.\n");
  expect({ code, left }).toEqual({ code: 1, left: [] });
});

test("a second daemon on a data directory is refused, and the first goes on", async () => {
  const { code, stderr } = await refusedStart({ data: inject("torporData") });
  expect(stderr).toMatch(/^torpord: Another torpord \(pid \d+\) works on this data directory\nhint: Stop it with torpor daemon stop/);
  expect(code).toBe(1);
  expect(await sharedClient().health()).toEqual({ status: "ok" });
});

/** A script in place of the engine. */
function fakeRunsc(body: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-fake-runsc-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = path.join(directory, "runsc");
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}
