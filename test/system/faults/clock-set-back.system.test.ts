import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Follower } from "../harness/follow.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { removeAll } from "../harness/remove-all.ts";
import { hostRuntime, killHard } from "../harness/runtime.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, startWitness } from "../harness/witness.ts";

/** The host's clock stays as it is: libfaketime tells the daemon's process another wall clock, which is read from a file at each look. */
const directory = mkdtempSync(path.join(tmpdir(), "torpor-clock-"));
const offset = path.join(directory, "offset");
const armed = path.join(directory, "armed");
const name = "base";
const hourMs = 60 * 60 * 1000;
let daemon: TestDaemon;

beforeAll(async () => {
  const [library = ""] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
  set("+0");
  const env = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: offset,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    TORPOR_FAILPOINT: armed,
  };
  daemon = await TestDaemon.start({ env });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  rmSync(armed, { force: true });
  set("+0");
  await removeAll(daemon.client);
  await daemon.client.create({ image: "debian", name });
});

describe("the host's clock is set back an hour", () => {
  test("while sandboxes run and are paused: all goes on, nothing ends before it began, and the order of events is kept", async () => {
    const { client } = daemon;
    const witness = await startWitness(client, name);
    await client.pause(name);
    set("-3600");
    expect(Date.parse((await client.create({ image: "debian", name: "later" })).operation.startedAt)).toBeLessThan(Date.now() - hourMs / 2);
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, witness);
    await client.pause(name);
    await client.resume(name, { memory: "require" });
    await client.fork(name, { name: "child" });
    await goesOn(client, "child", witness);
    expect((await client.events(name)).map(({ type }) => type)).toEqual([
      "sandbox.created",
      "sandbox.paused",
      "sandbox.resumed",
      "memory_restored",
      "sandbox.paused",
      "sandbox.resumed",
      "memory_restored",
      "sandbox.forked",
    ]);
    await endAfterTheyBegan();
    await hostAgrees(daemon);
  });

  test("in the middle of a pause whose daemon is killed: the next one finishes it", async () => {
    const witness = await startWitness(daemon.client, name);
    writeFileSync(armed, "pause.seal");
    const pausing = daemon.client.pause(name).catch((error: unknown) => error);
    await daemon.ended();
    await pausing;
    set("-3600");
    await daemon.launch();
    expect(await daemon.client.get(name)).toMatchObject({ state: "paused", operation: null });
    await endAfterTheyBegan();
    await daemon.client.resume(name, { memory: "require" });
    await goesOn(daemon.client, name, witness);
    await hostAgrees(daemon);
  });
});

/**
 * The engine looks at the host's own clock, which a test must not set. Tried in a virtual machine, set back 60 s under a loop of `sleep 1`: each took 1.0 to 1.3 s (as
 * those before, on an emulated CPU), and the sandbox's wall clock followed within 3 s. The rest of it is torpord's, here.
 */
describe("the host's clock is set back 60 s (C04)", () => {
  test("in the middle of a sleep: it takes as long as it should, inside and for who waits for it", async () => {
    const asked = performance.now();
    const sleeping = await begun(
      `print('began', flush=True); a = time.monotonic(); time.sleep(1); print(int((time.monotonic() - a) * 1000))`,
    );
    set("-60");
    await sleeping.finished;
    for (const tookMs of [Number(sleeping.text.split("\n")[1]), performance.now() - asked]) {
      expect(tookMs).toBeGreaterThanOrEqual(1000);
      expect(tookMs).toBeLessThan(30_000);
    }
  });

  test("in the middle of a command with a time limit: it ends at its limit", async () => {
    const asked = performance.now();
    const limited = await begun("print('began', flush=True); time.sleep(600)", 1000);
    set("-60");
    await limited.finished;
    expect(limited.end).toMatchObject({ reason: "timeout" });
    expect(performance.now() - asked).toBeLessThan(30_000);
  });

  test("in the middle of a call that waits: it is answered when its wait is over", async () => {
    const { client } = daemon;
    await begun("signal.signal(signal.SIGTERM, signal.SIG_IGN); print('began', flush=True); time.sleep(600)");
    const { enginePid } = await hostRuntime(client, daemon.instance, name);
    const stopping = client.stop(name, { graceMs: 60_000 }, { waitMs: 1000 });
    await eventually(
      () => client.get(name),
      ({ state }) => state === "stopping",
    );
    set("-60");
    // Before the end of what it waited for, which is much later, and which the engine's end brings about.
    expect((await stopping).operation).toMatchObject({ kind: "stop", status: "running" });
    await killHard(enginePid);
    await eventually(
      () => client.get(name),
      ({ state }) => state === "stopped",
    );
  });
});

/** A Python program that has said that it began. */
async function begun(program: string, timeoutMs?: number): Promise<Follower> {
  const argv = ["python3", "-c", `import signal, time\n${program}`];
  const follower = new Follower(await daemon.client.stream(name, { argv, ...(timeoutMs === undefined ? {} : { timeoutMs }) }));
  await follower.until(({ text }) => text.includes("began"));
  return follower;
}

function set(seconds: string): void {
  writeFileSync(offset, `${seconds}\n`);
}

async function endAfterTheyBegan(): Promise<void> {
  for (const { id } of await daemon.client.list()) {
    for (const { kind, startedAt, endedAt } of await daemon.client.operations(id)) {
      expect(Date.parse(endedAt ?? ""), kind).toBeGreaterThanOrEqual(Date.parse(startedAt));
    }
  }
}
