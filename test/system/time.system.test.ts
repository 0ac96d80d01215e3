import { setTimeout as sleep } from "node:timers/promises";
import { TorporError } from "@torpor/sdk";
import { expect, test } from "vitest";
import { Follower } from "./harness/follow.ts";
import { eventually, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const state = async (name: string) => (await client.get(name)).state;
const isPaused = (now: string) => now === "paused";

test("its ttl pauses it, and twenty commands at once wake it by one resume (P19, P13)", async () => {
  const name = await startSandbox(client, { autoResume: true });
  await client.startSession(name, { argv: ["sleep", "1000"] });
  const { expiresAt } = await client.update(name, { ttlMs: 1000 });
  await eventually(() => state(name), isPaused);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt ?? ""));
  expect(await client.get(name)).toMatchObject({ expiresAt: null, checkpoint: { id: expect.any(String) } });
  await client.update(name, { ttlMs: null });
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => output(client, name, "cat /proc/sys/kernel/random/boot_id; echo $TORPOR_GENERATION")),
  );
  expect(new Set(ids).size).toBe(1);
  expect(await client.get(name)).toMatchObject({ state: "running", generation: 2, restored: "memory" });
  expect(await output(client, name, "pgrep -x sleep")).not.toBe("");
  const resumes = (await client.operations(name)).filter(({ kind }) => kind === "resume");
  expect(resumes).toMatchObject([{ actor: "autoResume", status: "succeeded" }]);
});

test("what was written up to a pause by its ttl is there afterwards, as after any pause (T01)", async () => {
  const name = await startSandbox(client);
  const program =
    "import time\nn = 0\nwhile True:\n    n += 1\n    with open('/root/n', 'a') as f: f.write(f'{n}\\n')\n    print(n, flush=True)\n    time.sleep(0.02)";
  const { id } = await client.startSession(name, { argv: ["python3", "-c", program] });
  const told = new Follower(await client.attach(name, id));
  await told.until(({ text }) => text.split("\n").length > 20);
  await client.update(name, { ttlMs: 1000 });
  await told.finished;
  expect(told.end?.reason ?? told.failure).toBe("paused");
  await eventually(() => state(name), isPaused);
  const last = Number(told.text.trim().split("\n").at(-1));
  expect(last).toBeGreaterThan(20);
  await client.update(name, { ttlMs: null });
  await client.resume(name, { memory: "require" });
  const written = (await output(client, name, "cat /root/n")).split("\n").map(Number);
  expect(written.at(-1)).toBeGreaterThanOrEqual(last);
  expect(written).toEqual(written.map((_, index) => index + 1));
});

test("looking at it keeps none awake, using it does; a file call wakes it (T06, T13)", async () => {
  const name = await startSandbox(client, { autoResume: true });
  const begun = Date.now();
  const using = new Follower(await client.stream(name, { argv: ["sh", "-c", "echo begun; sleep 3"] }));
  await using.until(({ text }) => text === "begun\n");
  await client.update(name, { idleMs: 1500 });
  await using.finished;
  // If a look were a use, these would put it off for ever.
  await eventually(() => state(name), isPaused);
  const [pause] = await client.operations(name);
  expect(pause).toMatchObject({ kind: "pause", actor: "ttl", result: { timeout: "idle" } });
  expect(Date.parse(pause?.startedAt ?? "") - begun).toBeGreaterThanOrEqual(3000 + 1500);
  await client.update(name, { idleMs: null });
  await client.files.makeDirectory(name, { path: "/root/made" });
  expect(await client.get(name)).toMatchObject({ state: "running", generation: 2 });
});

test("commands around the end of its idle time all run (T12)", async () => {
  const name = await startSandbox(client, { idleMs: 1000, autoResume: true });
  for (let count = 0; count < 6; count++) {
    await sleep(985 + 10 * count);
    expect(await output(client, name, "echo ok")).toBe("ok");
  }
  // A pause that a command came across was called off, and no other failed.
  const failed = (await client.operations(name)).filter(({ status }) => status === "failed");
  expect(failed.filter(({ error }) => error?.code !== "operation_cancelled")).toEqual([]);
});

test("its hard ttl removes it, also when it is paused (T10)", async () => {
  const name = await startSandbox(client);
  await client.pause(name);
  const { state: paused, hardExpiresAt } = await client.update(name, { hardTtlMs: 1000 });
  expect(paused).toBe("paused");
  const look = () =>
    client.get(name).then(
      () => "there",
      (error: unknown) => (error instanceof TorporError ? error.code : String(error)),
    );
  await eventually(look, (found) => found === "sandbox_not_found");
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(hardExpiresAt ?? ""));
});
