import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdings, hostAgrees } from "../harness/holdings.ts";
import { refusedStart } from "../harness/refused-start.ts";
import { hostRuntime, isAlive } from "../harness/runtime.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, startWitness, type Witness } from "../harness/witness.ts";

const directory = mkdtempSync(path.join(tmpdir(), "torpor-refused-store-"));
const armed = path.join(directory, "armed");
let daemon: TestDaemon;
let witness: Witness;

beforeAll(async () => {
  daemon = await TestDaemon.start({ env: { TORPOR_FAILPOINT: armed } });
  await daemon.client.create({ image: "debian", name: "base" });
  witness = await startWitness(daemon.client, "base");
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

test("an operation in a phase of a newer version: the daemon does not start, names it, and touches nothing; what knows the phase goes on from there", async () => {
  const { enginePid, shimPid } = await hostRuntime(daemon.client, daemon.instance, "base");
  writeFileSync(armed, "pause.capture");
  const pausing = daemon.client.pause("base").catch((error: unknown) => error);
  await daemon.ended();
  await pausing;
  const phase = setPhase("dream");
  const before = [records(), holdings(daemon)];
  const { code, stderr } = await refusedStart({ data: daemon.data });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^torpord: operation op_\w+ \(pause\) is in phase dream, which this Torpor does not know: start the newer version/,
  );
  expect([records(), holdings(daemon)]).toEqual(before);
  expect([enginePid, shimPid].map(isAlive)).toEqual([true, true]);
  setPhase(phase);
  await daemon.launch();
  expect(await daemon.client.get("base")).toMatchObject({ state: "paused", operation: null });
  await daemon.client.resume("base", { memory: "require" });
  await goesOn(daemon.client, "base", witness);
  await hostAgrees(daemon);
});

test("a store that another process holds: the daemon does not start, says so, and touches nothing; sandboxes go on", async () => {
  await daemon.terminate();
  const before = [records(), holdings(daemon)];
  using holder = open();
  holder.exec("pragma locking_mode = exclusive; begin exclusive");
  const { code, stderr } = await refusedStart({ data: daemon.data });
  holder.exec("commit");
  holder.close();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^torpord: .*torpor.db failed: database is locked.*\nhint: /),
  });
  expect([records(), holdings(daemon)]).toEqual(before);
  await daemon.launch();
  await goesOn(daemon.client, "base", witness);
});

function open(): DatabaseSync {
  return new DatabaseSync(path.join(daemon.data, "torpor.db"));
}

/** Of the operation at work; gives the phase that it was in. */
function setPhase(phase: string): string {
  using database = open();
  const { found } = database.prepare("select json_extract(record, '$.phase') as found from operations where status = 'running'").get() as {
    found: string;
  };
  database.prepare("update operations set record = json_set(record, '$.phase', ?) where status = 'running'").run(phase);
  return found;
}

function records(): unknown {
  using database = open();
  return ["sandboxes", "operations", "events"].map((table) => database.prepare(`select * from ${table}`).all());
}
