import { Torpor } from "@torpor/sdk";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { GuideWorld } from "./harness/guide-world.ts";
import { newerRequests, olderRequests } from "./harness/wheels.ts";

let world: GuideWorld;
beforeAll(async () => {
  world = await GuideWorld.open();
  vi.stubEnv("TORPOR_SOCKET", world.daemon.socket);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await world[Symbol.asyncDispose]();
});

test("pause, resume and fork a sandbox with the program of the guide", async () => {
  const printed: string[] = [];
  const console = { log: (text: string) => printed.push(text) };

  const version = ["python", "-c", "import requests; print(requests.__version__)"];

  const torpor = new Torpor();
  try {
    // Create a sandbox and install a package in it.
    const base = await torpor.create({ name: "base", image: "python:3.12", memoryMiB: 512 });
    await base.exec(["pip", "install", "requests"]);

    // Pause it, which saves its memory to disk. Prints paused.
    await base.pause();
    console.log((await base.inspect()).state);

    // Resume it. Its processes carry on where they left off.
    await base.resume();

    // Fork it twice.
    const tryA = await base.fork({ name: "try-a" });
    const tryB = await base.fork({ name: "try-b" });

    // Change one fork only. Prints 2.31.0, then base's version.
    await tryA.exec(["pip", "install", "requests==2.31.0"]);
    console.log((await tryA.exec(version)).stdout);
    console.log((await tryB.exec(version)).stdout);

    // Remove all three.
    for (const sandbox of [tryA, tryB, base]) await sandbox.remove({ force: true });
  } finally {
    torpor.close();
  }
  expect(await world.daemon.client.list()).toEqual([]);
  expect(printed).toEqual(["paused", `${olderRequests}\n`, `${newerRequests(world.wheels)}\n`]);
});

test("a pause and a resume with memory and a time limit, as the helpers that wait have it", async () => {
  using client = new Torpor();
  await using sandbox = await client.create({ image: "python:3.12" });
  const counter =
    "import os, time\nn = 0\nwhile True:\n  n += 1\n  open('/dev/shm/m', 'w').write(str(n))\n  os.replace('/dev/shm/m', '/dev/shm/n')\n  time.sleep(0.01)";
  await sandbox.exec(["python", "-c", counter], { background: true });
  const counted = async () => Number((await sandbox.exec("until [ -e /dev/shm/n ]; do sleep 0.02; done; cat /dev/shm/n")).stdout);
  const before = await counted();
  const { generation } = sandbox.record;

  const paused = await client.sandboxes.pauseAndWait(sandbox.id, {
    memory: true,
    timeoutMs: 360_000,
  });
  expect(paused).toMatchObject({ state: "paused", runtimeId: null });

  const resumed = await client.sandboxes.resumeAndWait(sandbox.id, {
    memory: true,
    timeoutMs: 360_000,
  });
  expect(resumed).toMatchObject({ state: "running", restored: "memory", generation: generation + 1 });
  expect(await counted()).toBeGreaterThan(before);

  // Files only: the counter is gone, and its memory with it.
  await client.sandboxes.pauseAndWait(sandbox.id, { memory: false, timeoutMs: 360_000 });
  expect(await client.sandboxes.resumeAndWait(sandbox.id, { memory: true, timeoutMs: 360_000 })).toMatchObject({ restored: "files" });
  expect((await sandbox.exec("ls /dev/shm; pgrep -c python")).stdout).toBe("0\n");
});
