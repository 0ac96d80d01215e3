import { setTimeout as sleep } from "node:timers/promises";
import { TorporError } from "@torpor/sdk";
import { expect, test } from "vitest";
import { Follower } from "./harness/follow.ts";
import { eventually, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const state = async (name: string) => (await client.get(name)).state;
const isPaused = (now: string) => now === "paused";

test("its ttl pauses it, and twenty commands at once wake it by one resume (P19, P13)", { timeout: 60_000 }, async () => {
  const name = await startSandbox(client, { ttlMs: 3000, autoResume: true });
  const { expiresAt } = await client.get(name);
  await client.startSession(name, { argv: ["sleep", "1000"] });
  await eventually(() => state(name), isPaused);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt ?? ""));
  expect(await client.get(name)).toMatchObject({ expiresAt: null, checkpoint: { id: expect.any(String) } });
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => output(client, name, "cat /proc/sys/kernel/random/boot_id; echo $TORPOR_GENERATION")),
  );
  expect(new Set(ids).size).toBe(1);
  expect(await client.get(name)).toMatchObject({ state: "running", generation: 2, restored: "memory" });
  expect(await output(client, name, "pgrep -x sleep")).not.toBe("");
  const resumes = (await client.operations(name)).filter(({ kind }) => kind === "resume");
  expect(resumes).toMatchObject([{ actor: "autoResume", status: "succeeded" }]);
});

test("what was written up to a pause by its ttl is there afterwards, as after any pause (T01)", { timeout: 60_000 }, async () => {
  const name = await startSandbox(client, { ttlMs: 3000 });
  const program =
    "import time\nn = 0\nwhile True:\n    n += 1\n    with open('/root/n', 'a') as f: f.write(f'{n}\\n')\n    print(n, flush=True)\n    time.sleep(0.02)";
  const { id } = await client.startSession(name, { argv: ["python3", "-c", program] });
  const told = new Follower(await client.attach(name, id));
  await told.finished;
  expect(told.end?.reason ?? told.failure).toBe("paused");
  await eventually(() => state(name), isPaused);
  const last = Number(told.text.trim().split("\n").at(-1));
  expect(last).toBeGreaterThan(20);
  await client.resume(name, { memory: "require" });
  const written = (await output(client, name, "cat /root/n")).split("\n").map(Number);
  expect(written.at(-1)).toBeGreaterThanOrEqual(last);
  expect(written).toEqual(written.map((_, index) => index + 1));
});

test("looking at it keeps none awake, using it does; a file call wakes it (T06, T13)", { timeout: 60_000 }, async () => {
  const name = await startSandbox(client, { idleMs: 2000, autoResume: true });
  for (let count = 0; count < 6; count++) {
    await output(client, name, "true");
    await sleep(700);
  }
  expect(await client.get(name)).toMatchObject({ state: "running", generation: 1 });
  const lastUse = Date.now();
  await eventually(() => state(name), isPaused);
  expect(Date.now() - lastUse).toBeGreaterThan(1000);
  expect((await client.operations(name))[0]).toMatchObject({ kind: "pause", actor: "ttl", result: { timeout: "idle" } });
  await client.files.makeDirectory(name, { path: "/root/made" });
  expect(await client.get(name)).toMatchObject({ state: "running", generation: 2 });
});

test("commands around the end of its idle time all run (T12)", { timeout: 60_000 }, async () => {
  const name = await startSandbox(client, { idleMs: 1000, autoResume: true });
  for (let count = 0; count < 6; count++) {
    await sleep(985 + 10 * count);
    expect(await output(client, name, "echo ok")).toBe("ok");
  }
  expect(await state(name)).toBe("running");
});

test("its hard ttl removes it, also when it is paused (T10)", { timeout: 60_000 }, async () => {
  const name = await startSandbox(client, { hardTtlMs: 4000 });
  await client.pause(name);
  const look = () =>
    client.get(name).then(
      () => "there",
      (error: unknown) => (error instanceof TorporError ? error.code : String(error)),
    );
  expect(await look()).toBe("there");
  await eventually(look, (found) => found === "sandbox_not_found");
});
