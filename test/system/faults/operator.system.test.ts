import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../packages/daemon/src/stores/testing/postgres-server.ts";
import { blocksFor } from "../../documents/blocks.ts";
import { readersShell } from "../../documents/shell.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually, output } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness } from "../harness/witness.ts";

/** What the documents tell an operator to do, in their order; a new block has to be given its place here. */
const [hooks = "", stores = "", backup = "", restore = "", grow = "", ...more] = blocksFor(import.meta.url).map(({ text }) => text);
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
  run(grow);
  expect((await client.info()).pool.sizeBytes - before).toBeGreaterThan(49 * gib);
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
  const shell = run(backup);
  await daemon.ended();
  expect(statSync(path.join(shell.cwd, "backup.tar")).size).toBeLessThan(3 * gib);
  rmSync(daemon.data, { recursive: true });
  daemon.movedTo(mkdtempSync(path.join(tmpdir(), "torpor-system-")));
  run(restore, shell);
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

test("a daemon is started with what the documents give it, and every block of theirs has its place", async () => {
  expect(more).toEqual([]);
  await using server = await PostgresServer.start();
  const url = new URL(await server.database());
  const data = mkdtempSync(path.join(tmpdir(), "torpor-system-"));
  const shell = readersShell({ TORPOR_DATA: data, TORPOR_LISTEN: "off" });
  const own = { ...shell, env: { ...shell.env, TORPOR_STORE: url.href } };
  const [byVariable = "", byOption = ""] = stores.trim().split("\n");
  // The test's own server listens on a socket of its own, and believes everybody.
  const here = (line: string) => line.replace("db.example/torpor", `localhost${url.pathname}${url.search}`);
  try {
    run(`${here(byVariable)}\ntorpor daemon stop`, shell);
    run(`${here(byOption)}\ntorpor daemon stop`, shell);
    expect(await server.query(url.pathname.slice(1), "select 1 from sandboxes")).toEqual([]);
    run(`${hooks}torpor webhook create http://10.1.2.3/hook`, own);
  } finally {
    run("torpor daemon stop --remove-data", own);
  }
});

/** With /var/lib/torpor where the test has it. */
function run(block: string, shell = readersShell({ TORPOR_DATA: daemon.data })): typeof shell {
  const here = block.replaceAll("/var/lib/torpor", daemon.data);
  execFileSync("bash", ["-euc", here], { ...shell, stdio: ["ignore", "pipe", "inherit"] });
  return shell;
}
