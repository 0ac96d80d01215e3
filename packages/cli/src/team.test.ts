import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);

test("limits are set one by one, kept, lifted, and shown beside what is held", async () => {
  expect((await run("team", "limits", "blue", "--memory", "1GiB", "--sandboxes", "3")).code).toBe(0);
  const { text } = await run("team", "limits", "blue", "--cpus", "1.5", "--sandboxes", "none");
  expect(text).toMatch(/^TEAM +SANDBOXES +MEMORY +CPUS +DISK +BALANCE\nblue +0 +0 B of 1.0 GiB +0 of 1.5 +0 B +-\n$/);
  expect(JSON.parse((await run("team", "list", "--json")).text)).toMatchObject([
    { name: "blue", limits: { memoryBytes: 2 ** 30, cpus: 1.5, diskBytes: null, sandboxes: null } },
  ]);
  expect(await run("team", "limits", "blue", "--memory", "much")).toMatchObject({
    code: 1,
    text: "",
    stderr: expect.stringContaining("is no size"),
  });
});

test("credit is added once for a key, and prices are changed one by one", async () => {
  expect((await run("team", "prices", "--cpu-second", "0.00002")).text).toMatch(/\nCPU second +0.00002\n/);
  expect(JSON.parse((await run("team", "prices", "--debt-share", "0.2", "--json")).text)).toEqual({
    cpuSecond: 0.00002,
    memoryGibSecond: 0,
    storedGibMonth: 0,
    debtShare: 0.2,
  });
  for (let time = 0; time < 2; time++) {
    expect((await run("team", "credit", "blue", "100", "--key", "invoice-17")).text).toMatch(/\nblue .* 100\.0000\n$/);
  }
  expect((await run("team", "list")).text).toMatch(/\nblue .* 100\.0000\n/);
  expect(await run("team", "credit", "blue", "-5")).toMatchObject({ code: 1, text: "" });
});
