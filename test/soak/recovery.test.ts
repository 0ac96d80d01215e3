import { setTimeout as passes } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hostAgrees } from "../system/harness/holdings.ts";
import { TestDaemon } from "../system/harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness } from "../system/harness/witness.ts";

const rounds = Number(process.env.SOAK_ROUNDS ?? 1000);
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("the daemon is killed at random instants of pauses under load: each ends as paused and resumable, or as running (P15)", async () => {
  const name = "loaded";
  await daemon.client.create({ image: "debian", name });
  await daemon.client.startSession(name, { argv: ["sh", "-c", "while :; do :; done"] });
  const witness = await startWitness(daemon.client, name);
  for (let round = 0; round < rounds / 20; round++) {
    const pausing = daemon.client.pause(name).catch((error: unknown) => error);
    await passes(Math.random() * 500);
    await daemon.kill();
    await pausing;
    await daemon.launch();
    const { state } = await daemon.client.get(name);
    expect(state).toMatch(/^(paused|running)$/);
    if (state === "paused") await daemon.client.resume(name, { memory: "require" });
    await goesOn(daemon.client, name, witness);
    await hostAgrees(daemon);
  }
  await daemon.client.remove(name, { force: true });
});

test("the daemon is killed at random instants of creates, pauses and removals: it starts within 10 s, and nothing is left (D10)", async () => {
  const name = "again";
  let slowestMs = 0;
  for (let round = 0; round < rounds / 10; round++) {
    const { client } = daemon;
    const found = (await client.list()).find((sandbox) => sandbox.name === name);
    const ask =
      found === undefined
        ? client.create({ image: "debian", name })
        : round % 2 === 0 && found.state === "running"
          ? client.pause(name)
          : client.remove(name, { force: true });
    const asked = ask.catch((error: unknown) => error);
    await passes(Math.random() * 300);
    await daemon.kill();
    await asked;
    const started = performance.now();
    await daemon.launch();
    slowestMs = Math.max(slowestMs, performance.now() - started);
    await hostAgrees(daemon);
  }
  console.log(`slowest start of ${rounds / 10}: ${Math.round(slowestMs)} ms`);
  expect(slowestMs).toBeLessThan(10_000);
  const left = (await daemon.client.list()).find((sandbox) => sandbox.name === name);
  if (left !== undefined) await daemon.client.remove(name, { force: true });
  await daemon.client.create({ image: "debian", name });
  await startWitness(daemon.client, name);
  await hasFiles(daemon.client, name);
});
