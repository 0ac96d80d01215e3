import type { TeamBudget } from "@torpor/contract";
import { expect, test } from "vitest";
import { TimedWorld } from "../testing/timed-world.ts";
import { standingOf } from "./budget.ts";

const secondMs = 1000;
const prices = { cpuSecond: 1, memoryGibSecond: 2, storedGibMonth: 0, debtShare: 0.1 };
const lastTopUp = { amount: 100, at: "2026-01-01T00:00:00.000Z" };
const big = { resources: { cpus: 1, memoryBytes: 2 ** 30 } };

/** A second of `base` costs 3. */
async function paying(amount: number): Promise<TimedWorld> {
  const timed = await TimedWorld.open();
  await timed.lifecycle.teams.setPrices(prices);
  await timed.lifecycle.teams.topUp("default", amount);
  await timed.create(big);
  return timed;
}

async function minute({ lifecycle }: TimedWorld): Promise<void> {
  await lifecycle.usage.write();
  await lifecycle.pauseForBudgets();
}

const budget = async ({ lifecycle }: TimedWorld): Promise<TeamBudget | null | undefined> =>
  (await lifecycle.teams.list("default"))[0]?.budget;

test.each([
  [100, false],
  [109.9, false],
  [110, true],
])("used up to %d of a credit of 100 and a share of 10 %%: exhausted %s", (used, exhausted) => {
  expect(standingOf({ credit: 100, used, lastTopUp }, prices)).toMatchObject({ balance: 100 - used, exhausted });
});

test("with a share of 0 any debt is too much, and no debt is not", () => {
  expect(standingOf({ credit: 1, used: 1, lastTopUp }, { ...prices, debtShare: 0 }).exhausted).toBe(false);
  expect(standingOf({ credit: 1, used: 1.01, lastTopUp }, { ...prices, debtShare: 0 }).exhausted).toBe(true);
});

test("a debt of a tenth of the last top-up pauses what runs, files only, and lets nothing run until a top-up", async () => {
  const timed = await paying(300);
  await timed.pass(109 * secondMs);
  await minute(timed);
  expect(await budget(timed)).toMatchObject({ credit: 300, used: 327, balance: -27, exhausted: false });
  expect(await timed.state()).toBe("running");
  await timed.lifecycle.create({ image: "debian", name: "at-rest" });
  await timed.lifecycle.stop("at-rest");
  await timed.pass(1 * secondMs);
  await minute(timed);
  expect(await timed.state()).toBe("paused");
  expect(await timed.lifecycle.get("base")).toMatchObject({ checkpoint: null });
  const [operation] = await timed.lifecycle.operations("base");
  const reason = { balance: -30, lastTopUp: 300 };
  expect(operation).toMatchObject({ kind: "pause", actor: "budget", status: "succeeded", result: { memory: false, budget: reason } });
  expect((await timed.lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.paused", data: { budget: reason } });

  const before = await timed.lifecycle.list();
  const refused = { code: "budget_exhausted", status: 402, details: { team: "default", balance: -30, lastTopUp: 300, debtShare: 0.1 } };
  await expect(timed.lifecycle.create({ image: "debian" })).rejects.toMatchObject(refused);
  await expect(timed.lifecycle.resume("base")).rejects.toMatchObject(refused);
  await expect(timed.lifecycle.fork("base", { memory: false })).rejects.toMatchObject(refused);
  await expect(timed.lifecycle.start("at-rest")).rejects.toMatchObject(refused);
  expect(await timed.lifecycle.list()).toEqual(before);
  expect((await timed.lifecycle.create({ image: "debian" }, { team: "other" })).operation.status).toBe("succeeded");

  expect((await timed.lifecycle.teams.topUp("default", 100)).budget).toMatchObject({ credit: 400, balance: 70, exhausted: false });
  expect((await timed.lifecycle.resume("base")).operation.result).toMatchObject({ restored: "files" });
});

test("a call that wakes is refused with the budget's own error until a top-up, and goes through right after it", async () => {
  const timed = await paying(30);
  await timed.lifecycle.update("base", { autoResume: true });
  await timed.pass(20 * secondMs);
  await minute(timed);
  const refused = { code: "budget_exhausted", status: 402, details: { team: "default", balance: -30, lastTopUp: 30 } };
  for (const sessionId of ["se_a", "se_b"]) await expect(timed.exec(sessionId)).rejects.toMatchObject(refused);
  expect(await timed.state()).toBe("paused");
  await timed.lifecycle.teams.topUp("default", 100);
  await timed.exec("se_c");
  expect(await timed.state()).toBe("running");
});

test("a restart and a kill lose nothing of it and pay nothing twice", async () => {
  const timed = await paying(300);
  await timed.pass(10 * secondMs);
  await minute(timed);
  await timed.pass(20 * secondMs);
  await timed.crash();
  await minute(timed);
  expect(await budget(timed)).toMatchObject({ used: 90 });
  await timed.restart();
  await minute(timed);
  expect(await budget(timed)).toMatchObject({ credit: 300, used: 90 });
  await timed.pass(90 * secondMs);
  await timed.crash();
  await minute(timed);
  expect(await timed.state()).toBe("paused");
  await timed.crash();
  await expect(timed.lifecycle.resume("base")).rejects.toMatchObject({ code: "budget_exhausted" });
});

test("each use is paid for at the prices of its time, and nothing from before the first top-up", async () => {
  const timed = await TimedWorld.open();
  await timed.lifecycle.teams.setPrices(prices);
  await timed.create(big);
  await timed.pass(1000 * secondMs);
  await timed.lifecycle.teams.topUp("default", 300);
  await timed.pass(10 * secondMs);
  await timed.lifecycle.teams.setPrices({ ...prices, cpuSecond: 0 });
  await timed.pass(10 * secondMs);
  await timed.lifecycle.remove("base", { force: true });
  await timed.pass(91 * 86_400 * secondMs);
  await minute(timed);
  await minute(timed);
  expect(await budget(timed)).toMatchObject({ used: 50 });
});

test("a top-up with a key is added once, also at once and after a kill; with another amount it is refused", async () => {
  const timed = await TimedWorld.open();
  const once = { key: "k", fingerprint: "5" };
  const topUp = () => timed.lifecycle.teams.topUp("default", 5, once);
  await Promise.all([topUp(), topUp(), topUp()]);
  await timed.crash();
  expect((await topUp()).budget).toMatchObject({ credit: 5 });
  await expect(timed.lifecycle.teams.topUp("default", 6, { ...once, fingerprint: "6" })).rejects.toMatchObject({
    code: "idempotency_conflict",
  });
  expect((await timed.lifecycle.teams.topUp("default", 1, { key: "other", fingerprint: "1" })).budget).toMatchObject({ credit: 6 });
});

test("a top-up before its turn leaves a sandbox running", async () => {
  const timed = await paying(30);
  await timed.pass(20 * secondMs);
  await timed.lifecycle.usage.write();
  await timed.lifecycle.teams.topUp("default", 1000);
  await timed.lifecycle.pauseForBudgets();
  expect(await timed.state()).toBe("running");
});

test("while the store fails nothing is paid, and afterwards all of it once", async () => {
  const timed = await paying(300);
  await timed.pass(10 * secondMs);
  const { store } = timed.world;
  const commit = store.commit.bind(store);
  // Written, and the answer was lost.
  store.commit = async (change) => {
    await commit(change);
    throw new Error("the line broke");
  };
  await expect(timed.lifecycle.usage.write()).rejects.toThrow("the line broke");
  store.commit = commit;
  await minute(timed);
  expect(await budget(timed)).toMatchObject({ used: 30 });
  await timed.lifecycle.teams.topUp("default", 1);
  expect(await budget(timed)).toMatchObject({ credit: 301, used: 30 });
});
