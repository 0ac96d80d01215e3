import { owner } from "@torpor/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CallOptions, call, startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ tcp: {} });
});
afterAll(() => server[Symbol.asyncDispose]());

const as = async (team: string | null) => {
  const { secret } = await server.served.lifecycle.access.createToken(owner, { team });
  return (path: string, options: CallOptions = {}) =>
    call(server.url, path, { ...options, headers: { ...options.headers, authorization: `Bearer ${secret}` } });
};

test("limits are set by those of all teams, refuse with the numbers, and are seen by the team itself", async () => {
  const [all, red] = [await as(null), await as("red")];
  const limits = { sandboxes: 1, memoryBytes: 2 ** 30 };
  expect(await all("/v1/teams/red/limits", { method: "PUT", json: limits })).toMatchObject({
    status: 200,
    body: { name: "red", limits: { ...limits, cpus: null, diskBytes: null }, held: { sandboxes: 0 }, budget: null },
  });
  expect(await red("/v1/sandboxes", { method: "POST", json: { image: "debian", name: "reds" } })).toMatchObject({ status: 201 });
  expect(await red("/v1/sandboxes", { method: "POST", json: { image: "debian" } })).toMatchObject({
    status: 429,
    body: {
      error: { code: "capacity_exceeded", details: { resource: "sandboxes", asked: 1, free: 0, capacity: 1, team: "red" } },
    },
  });
  const blue = await as("blue");
  await blue("/v1/sandboxes", { method: "POST", json: { image: "debian", name: "blues" } });
  expect((await red("/v1/teams")).body.teams).toMatchObject([{ name: "red", held: { sandboxes: 1 } }]);
  expect((await all("/v1/teams")).body.teams).toMatchObject([{ name: "blue" }, { name: "red" }]);
});

test("a top-up with a key is added once, and a budget that is used up is told as such", async () => {
  const [all, green] = [await as(null), await as("green")];
  const topUp = (amount: number) =>
    all("/v1/teams/green/credits", { method: "POST", json: { amount }, headers: { "idempotency-key": "invoice-17" } });
  expect(await topUp(1)).toMatchObject({ status: 200, body: { budget: { credit: 1, used: 0, balance: 1, exhausted: false } } });
  expect(await topUp(1)).toMatchObject({ status: 200, body: { budget: { credit: 1 } } });
  expect(await topUp(2)).toMatchObject({ status: 409, body: { error: { code: "idempotency_conflict" } } });
  const prices = { cpuSecond: 1e9, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0.1 };
  expect(await all("/v1/prices", { method: "PUT", json: prices })).toMatchObject({ status: 200, body: prices });
  expect((await green("/v1/prices")).body).toEqual(prices);
  await green("/v1/sandboxes", { method: "POST", json: { image: "debian", name: "greens" } });
  // Of a sandbox that runs for less than a millisecond nothing is owed.
  await expect
    .poll(async () => {
      await server.served.lifecycle.usage.write();
      await server.served.lifecycle.pauseForBudgets();
      return (await green("/v1/sandboxes/greens")).body;
    })
    .toMatchObject({ state: "paused", checkpoint: null });
  expect(await green("/v1/sandboxes/greens/resume", { method: "POST", json: {} })).toMatchObject({
    status: 402,
    body: { error: { code: "budget_exhausted", message: expect.stringContaining("team green owes") } },
  });
});

describe.each([
  ["PUT", "/v1/teams/red/limits", {}],
  ["POST", "/v1/teams/red/credits", { amount: 1 }],
  ["PUT", "/v1/prices", { cpuSecond: 0, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0 }],
] as const)("%s %s", (method, path, json) => {
  test("is not for a team itself, whatever its token may do", async () => {
    const answer = await (await as("red"))(path, { method, json });
    expect(answer).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("is for those of all teams") } } });
  });
});

test.each([
  ["PUT", "/v1/teams/red/limits", { memoryBytes: -1 }],
  ["PUT", "/v1/teams/red/limits", { sandboxes: 1.5 }],
  ["PUT", "/v1/teams/red/limits", { pids: 5 }],
  ["PUT", "/v1/teams/RED/limits", {}],
  ["POST", "/v1/teams/red/credits", { amount: 0 }],
  ["POST", "/v1/teams/red/credits", { amount: 1e300 }],
  ["PUT", "/v1/prices", { cpuSecond: -1, memoryGibSecond: 0, storedGibMonth: 0, debtShare: 0 }],
] as const)("%s %s with %j is refused, and nothing is changed", async (method, path, json) => {
  const all = await as(null);
  const before = [(await all("/v1/teams")).body, (await all("/v1/prices")).body];
  expect(await all(path, { method, json })).toMatchObject({ status: 400 });
  expect([(await all("/v1/teams")).body, (await all("/v1/prices")).body]).toEqual(before);
});
