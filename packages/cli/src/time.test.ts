import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);
const record = async (name: string) => JSON.parse((await run("inspect", name)).text) as Record<string, unknown>;

test("bounds of a sandbox's life are set, shown, changed and taken away", async () => {
  await run("create", "--name", "plain", "debian");
  expect((await run("list")).text).toMatch(/MEMORY\n/);
  const bounds = ["--ttl", "30m", "--hard-ttl", "7d", "--idle", "10m", "--on-timeout", "stop", "--auto-resume"];
  expect(await run("create", "--name", "base", ...bounds, "debian")).toMatchObject({ code: 0 });
  expect(await record("base")).toMatchObject({
    ttlMs: 1_800_000,
    hardTtlMs: 604_800_000,
    idleMs: 600_000,
    onTimeout: "stop",
    autoResume: true,
    expiresAt: expect.any(String),
    hardExpiresAt: expect.any(String),
    lastActiveAt: expect.any(String),
  });
  const { text } = await run("list");
  expect(text).toMatch(/TIME LEFT\n/);
  expect(text).toMatch(/ plain .* -\n/);
  expect(text).toMatch(/ base .* (9m\d+s|10m) \(stop if idle\)\n/);
  expect(await run("update", "--idle", "none", "--no-auto-resume", "base")).toMatchObject({ code: 0, text: "base\n" });
  expect(await record("base")).toMatchObject({ idleMs: null, lastActiveAt: null, autoResume: false, ttlMs: 1_800_000 });
  expect((await run("list")).text).toMatch(/ base .* (29m\d+s|30m) \(stop\)\n/);
  const before = (await record("base")).expiresAt as string;
  expect(await run("refresh", "--ttl", "1h", "base")).toMatchObject({ code: 0, text: "base\n" });
  expect(((await record("base")).expiresAt as string) > before).toBe(true);
});

describe("refused, with nothing changed", () => {
  test.each([
    [["update", "--ttl", "8d"], /ttlMs \(691200000\) is over hardTtlMs \(604800000\)/],
    [["update", "--ttl", "0s"], /ttlMs: at least 1000 ms/],
    [["update", "--ttl", "-1s"], /no duration/],
    [["update", "--ttl", "100000000d"], /ttlMs: at most/],
    [["update", "--on-timeout", "sleep"], /pause, stop, remove/],
    [["refresh", "--ttl", "x"], /no duration/],
  ])("%j", async ([command = "", ...args], message) => {
    const before = await record("base");
    expect(await run(command, ...args, "base")).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(await record("base")).toEqual(before);
  });

  test("a refresh of what has no time to begin anew, or does not run", async () => {
    expect(await run("refresh", "plain")).toMatchObject({ code: 1, stderr: expect.stringContaining("sandbox plain has no ttl") });
    await run("pause", "plain");
    expect(await run("refresh", "plain")).toMatchObject({ code: 1, stderr: expect.stringContaining("plain is paused") });
    expect(await run("refresh", "nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("no sandbox nope") });
  });
});
