import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFailpoint } from "./failpoint.ts";

test("without the variable there are no failpoints", () => {
  expect(openFailpoint({})).toBeUndefined();
  expect(openFailpoint({ TORPOR_FAILPOINT: "", TORPOR_FAILPOINT_ACTION: "kill" })).toBeUndefined();
});

test.each(["pause.nothing", "pause.seal@0", "pause.seal@x", "pause.seal:explode"])("%s is refused at the start", (text) => {
  expect(() => openFailpoint({ TORPOR_FAILPOINT: text })).toThrow(/TORPOR_FAILPOINT/);
});

test("a step fails the n-th time, and that time only", async () => {
  const failpoint = openFailpoint({ TORPOR_FAILPOINT: "pause.quiesce@2:error, resume.launch:error" });
  await failpoint?.("pause.quiesce");
  await failpoint?.("pause.seal");
  await expect(failpoint?.("pause.quiesce")).rejects.toMatchObject({ code: "engine_failed" });
  await failpoint?.("pause.quiesce");
  await expect(failpoint?.("resume.launch")).rejects.toThrow("failpoint resume.launch");
});

test("a file arms and disarms a daemon that runs", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-failpoint-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, "armed");
  const failpoint = openFailpoint({ TORPOR_FAILPOINT: file, TORPOR_FAILPOINT_ACTION: "error" });
  await failpoint?.("pause.seal");
  writeFileSync(file, "pause.seal");
  await expect(failpoint?.("pause.seal")).rejects.toThrow("failpoint pause.seal");
  writeFileSync(file, "");
  await failpoint?.("pause.seal");
});
