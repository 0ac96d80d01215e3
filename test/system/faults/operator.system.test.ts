import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually, output } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness } from "../harness/witness.ts";

/** What docs/operations.md tells an operator to do. */
const gib = 2 ** 30;
let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--pool-size", String(4 * gib)] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("a pool that has become too small grows while sandboxes run", async () => {
  const { client } = daemon;
  await client.create({ image: "debian", name: "base" });
  const witness = await startWitness(client, "base");
  const before = (await client.info()).pool.sizeBytes;
  const file = path.join(daemon.data, "pool.img");
  run("truncate", "--size=+4G", file);
  run("losetup", "--set-capacity", run("losetup", "--noheadings", "--output=NAME", "--associated", file).trim());
  run("xfs_growfs", path.join(daemon.data, "pool"));
  expect((await client.info()).pool.sizeBytes - before).toBeGreaterThan(3.9 * gib);
  await client.pause("base");
  await client.resume("base", { memory: "require" });
  await goesOn(client, "base", witness);
});

test("a backup of the data directory is put back elsewhere: what was paused resumes with its memory, what was stopped has its files", async () => {
  await daemon.client.create({ image: "debian", name: "paused" });
  const witness = await startWitness(daemon.client, "paused");
  await daemon.client.create({ image: "debian", name: "stopped" });
  await output(daemon.client, "stopped", "echo kept > /root/marker");
  await daemon.client.stop("stopped");
  await daemon.client.pause("paused");
  await daemon.client.remove("base", { force: true });
  await daemon.terminate();
  const [old, elsewhere] = [daemon.data, mkdtempSync(path.join(tmpdir(), "torpor-system-"))];
  const backup = path.join(elsewhere, "backup.tar");
  run("tar", "--sparse", "-C", old, "-cf", backup, ".");
  expect(statSync(backup).size).toBeLessThan(3 * gib);
  rmSync(old, { recursive: true });
  run("tar", "-C", elsewhere, "-xf", backup);
  rmSync(backup);
  daemon.movedTo(elsewhere);
  await daemon.launch();
  await daemon.client.resume("paused", { memory: "require" });
  await goesOn(daemon.client, "paused", witness);
  await daemon.client.start("stopped");
  await hasFiles(daemon.client, "stopped");
  await hostAgrees(daemon);
});

test("a team's sandboxes run until its debt is too large, are then paused with their files, and go on after a top-up", async () => {
  const { client } = daemon;
  await removeAll(client);
  await client.create({ image: "debian", name: "spender", autoResume: true });
  await output(client, "spender", "echo kept > /root/marker; sync; touch /dev/shm/in-memory");
  // A second of a CPU is far more than the credit.
  await client.teams.setPrices({ cpuSecond: 1e6, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0.1 });
  await client.teams.topUp("default", 1);
  expect(await client.get("spender")).toMatchObject({ state: "running" });
  // What was used is paid each minute, and when the daemon starts.
  await daemon.terminate();
  await daemon.launch();
  const paused = await eventually(
    () => daemon.client.get("spender"),
    ({ state, operation }) => state === "paused" && operation === null,
  );
  expect(paused).toMatchObject({ checkpoint: null, runtimeId: null });
  const [operation] = await daemon.client.operations("spender");
  expect(operation).toMatchObject({
    kind: "pause",
    actor: "budget",
    status: "succeeded",
    result: { memory: false, budget: { lastTopUp: 1 } },
  });
  const exhausted = { code: "budget_exhausted", message: expect.stringContaining("team default owes") };
  await expect(daemon.client.resume("spender")).rejects.toMatchObject(exhausted);
  await expect(output(daemon.client, "spender", "true")).rejects.toMatchObject(exhausted);
  await expect(daemon.client.create({ image: "debian", name: "another" })).rejects.toMatchObject(exhausted);
  await hostAgrees(daemon);

  await daemon.client.teams.setPrices({ cpuSecond: 0, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0.1 });
  await daemon.client.teams.topUp("default", 1e12);
  expect(await output(daemon.client, "spender", "cat /root/marker; ls /dev/shm")).toBe("kept");
});

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8" });
}
