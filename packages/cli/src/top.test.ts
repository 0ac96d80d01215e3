import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
  for (const name of ["base", "other"]) await run("create", "--name", name, "debian");
  await run("pause", "other");
});
afterAll(async () => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);

test("what sandboxes use is printed as a table, once where the output is no terminal", async () => {
  const { code, text } = await run("top");
  expect(code).toBe(0);
  expect(text).toMatch(
    /^pool: 1 B of 1 B free\nNAME +STATE +CPU % +MEMORY .*\nbase +running +\d+\.\d +\d.* MiB +512 MiB +1 .*\nother +paused +0\.0 +0 B /,
  );
  expect((await run("top", "-q", "base")).text).toMatch(/^base +running .*\n$/);
  const json = JSON.parse((await run("top", "--once", "--json", "other")).text);
  expect(json.sandboxes).toEqual([expect.objectContaining({ name: "other", processes: 0 })]);
});

test("of an unknown sandbox there are none", async () => {
  expect(await run("top", "nope")).toMatchObject({ code: 1, text: "", stderr: expect.stringContaining("there is no sandbox nope") });
});

test("what sandboxes have used is printed, in hours", async () => {
  const { code, text } = await run("usage");
  expect(code).toBe(0);
  expect(text).toMatch(/^NAME +ID +RUNNING H .*\n(base|other) +sb_\w+ +\d+\.\d{3} +\d+\.\d{3} +/);
  expect(JSON.parse((await run("usage", "--json")).text)).toContainEqual(expect.objectContaining({ name: "base", removedAt: null }));
});
