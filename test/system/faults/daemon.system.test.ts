import { existsSync } from "node:fs";
import { release, totalmem } from "node:os";
import { setTimeout as passes } from "node:timers/promises";
import type { TorporClient } from "@torpor/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually, output } from "../harness/inside.ts";
import { hostRuntime, isAlive, killHard } from "../harness/runtime.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { torpor } from "../harness/torpor-command.ts";

/** A number a line, for ever, as a command that somebody watches. */
const counting = ["python3", "-u", "-c", "import itertools, time\nfor n in itertools.count(1):\n    print(n)\n    time.sleep(0.01)\n"];

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("a killed daemon's successor finds sandboxes and their sessions going on, and replays the output without a gap", async () => {
  const name = await createSandbox("killed");
  const session = await daemon.client.startSession(name, { argv: counting });
  const before = await daemon.client.get(name);
  const seen = new Reading();
  await seen.read(daemon.client, name, session.id, () => seen.count > 50);
  await daemon.kill();
  await daemon.launch();
  expect(await daemon.client.get(name)).toMatchObject({ state: "running", runtimeId: before.runtimeId, generation: before.generation });
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
  const kept = seen.count;
  await seen.read(daemon.client, name, session.id, () => seen.count > kept + 100);
  expect(seen.lines()).toEqual(Array.from({ length: seen.count }, (_, i) => String(i + 1)));
});

test("a daemon that is told to end leaves running sandboxes alone", async () => {
  const name = await createSandbox("ended");
  const session = await daemon.client.startSession(name, { argv: counting });
  const { enginePid } = await hostRuntime(daemon.client, daemon.instance, name);
  await daemon.terminate();
  expect(isAlive(enginePid)).toBe(true);
  await daemon.launch();
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
  expect(await output(daemon.client, name, ["ps", "-o", "pid=", "-C", "python3"])).toContain(String(session.pid));
});

test("a sandbox that was paused before a restart of the daemon is resumed, and all views of it agree (P16)", async () => {
  const name = await createSandbox("long-paused");
  const session = await daemon.client.startSession(name, { argv: counting });
  await daemon.client.pause(name);
  await daemon.terminate();
  await daemon.launch();
  await agree(name, "paused");
  const { operation } = await daemon.client.resume(name, { memory: "require" });
  expect(operation).toMatchObject({ status: "succeeded", result: { restored: "memory" } });
  await agree(name, "running");
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
});

test("a sandbox goes on when its shim is killed: the daemon starts another", async () => {
  const name = await createSandbox("shim-killed");
  const session = await daemon.client.startSession(name, { argv: counting });
  const seen = new Reading();
  await seen.read(daemon.client, name, session.id, () => seen.count > 20);
  const old = await hostRuntime(daemon.client, daemon.instance, name);
  await killHard(old.shimPid);
  const fresh = await eventually(
    // Without its files for a moment.
    () => hostRuntime(daemon.client, daemon.instance, name).catch(() => old),
    ({ shimPid }) => shimPid !== old.shimPid && isAlive(shimPid),
    10_000,
  );
  expect(fresh).toMatchObject({ directory: old.directory, enginePid: old.enginePid });
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
  const kept = seen.count;
  await seen.read(daemon.client, name, session.id, () => seen.count > kept + 20);
  expect(seen.lines()).toEqual(Array.from({ length: seen.count }, (_, i) => String(i + 1)));
  // All that a shim does works with the new one too: the files of the sandbox are in the disk that a resume mounts.
  await output(daemon.client, name, "echo kept >/root/kept");
  await daemon.client.pause(name);
  await daemon.client.resume(name, { memory: "require" });
  expect(await output(daemon.client, name, "cat /root/kept")).toBe("kept");
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
});

test("a sandbox whose shim was killed is removed with nothing left", async () => {
  const name = await createSandbox("shim-removed");
  const old = await hostRuntime(daemon.client, daemon.instance, name);
  await killHard(old.shimPid);
  await daemon.client.remove(name, { force: true });
  expect(isAlive(old.enginePid)).toBe(false);
  expect(existsSync(old.directory)).toBe(false);
});

test("a shim that was killed while no daemon was there is replaced by the next daemon", async () => {
  const name = await createSandbox("shim-alone");
  const session = await daemon.client.startSession(name, { argv: counting });
  const old = await hostRuntime(daemon.client, daemon.instance, name);
  await daemon.kill();
  await killHard(old.shimPid);
  await daemon.launch();
  expect(await daemon.client.get(name)).toMatchObject({ state: "running" });
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
  expect(await output(daemon.client, name, "echo answers")).toBe("answers");
});

test("a sandbox whose shim and engine were killed is reported within 10 s and leaves nothing", async () => {
  const name = await createSandbox("both-killed");
  await output(daemon.client, name, "echo kept >/root/kept; sync");
  const old = await hostRuntime(daemon.client, daemon.instance, name);
  await Promise.all([killHard(old.shimPid), killHard(old.enginePid)]);
  const failed = await eventually(
    () => daemon.client.get(name),
    ({ state }) => state === "failed",
    10_000,
  );
  expect(failed.failure?.message).toMatch(/runtime|engine/);
  expect(existsSync(old.directory)).toBe(false);
  await daemon.client.start(name);
  expect(await output(daemon.client, name, "cat /root/kept")).toBe("kept");
});

// A pause takes about 120 ms: these fall into all its phases.
const instantsMs = [2, 10, 20, 30, 40, 50, 60, 75, 90, 105];

test("a shim that is killed at any instant of a pause loses nothing: it goes on, or it is paused", async () => {
  const name = await createSandbox("pause-shim-killed");
  const session = await daemon.client.startSession(name, { argv: counting });
  for (const instantMs of instantsMs) {
    const { shimPid } = await hostRuntime(daemon.client, daemon.instance, name);
    const pausing = daemon.client.pause(name).catch((error: unknown) => error);
    await passes(instantMs);
    if (isAlive(shimPid)) {
      await killHard(shimPid);
    }
    await pausing;
    await bringBack(name, session);
  }
});

test("a daemon that is killed at any instant of a pause finishes or undoes it when it starts (P15)", async () => {
  const name = await createSandbox("pause-daemon-killed");
  const session = await daemon.client.startSession(name, { argv: counting });
  for (const instantMs of instantsMs) {
    const pausing = daemon.client.pause(name).catch((error: unknown) => error);
    await passes(instantMs);
    await daemon.kill();
    await pausing;
    await daemon.launch();
    await bringBack(name, session);
  }
});

test("torpor info tells of the host, the engine and the pool as they are", async () => {
  const { code, stdout } = await torpor(daemon.socket, "info", "--json");
  expect(code).toBe(0);
  const info = JSON.parse(stdout) as Awaited<ReturnType<TorporClient["info"]>>;
  expect(info).toMatchObject({
    instance: daemon.instance,
    dataDirectory: daemon.data,
    engine: { name: "gvisor", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    pool: { reflink: true, warning: null },
    host: { kernel: release(), memoryBytes: totalmem(), cgroup: existsSync("/sys/fs/cgroup/cgroup.controllers") ? "v2" : "v1" },
  });
  expect(existsSync(info.engine.path)).toBe(true);
  const table = await torpor(daemon.socket, "info");
  expect(table.stdout).toContain(`Linux ${release()}`);
});

async function createSandbox(name: string): Promise<string> {
  await daemon.client.create({ image: "debian", name });
  onTestFinished(async () => void (await daemon.client.remove(name, { force: true }).catch(() => {})));
  return name;
}

/** It runs or is paused, and its processes are what they were. */
async function bringBack(name: string, { id, pid }: { readonly id: string; readonly pid: number }): Promise<void> {
  const { state } = await daemon.client.get(name);
  expect(state).toMatch(/^(running|paused)$/);
  if (state === "paused") {
    await daemon.client.resume(name, { memory: "require" });
  }
  expect(await daemon.client.session(name, id)).toMatchObject({ pid, end: null });
}

async function agree(name: string, state: string): Promise<void> {
  const got = await daemon.client.get(name);
  expect(got).toMatchObject({ state, operation: null });
  expect((await daemon.client.list()).find(({ id }) => id === got.id)).toEqual(got);
}

/** What a session has put out, read on from where the reading was left. */
class Reading {
  #text = "";
  #last = 0;

  get count(): number {
    return this.lines().length;
  }

  lines(): string[] {
    return this.#text.split("\n").slice(0, -1);
  }

  async read(client: TorporClient, sandbox: string, session: string, enough: () => boolean): Promise<void> {
    const stream = await client.attach(sandbox, session, { after: this.#last });
    try {
      for await (const frame of stream) {
        if (frame.type === "output") {
          this.#text += Buffer.from(frame.data).toString();
          this.#last = frame.seq;
        }
        if (enough()) {
          return;
        }
      }
      throw new Error("the session's output ended");
    } finally {
      stream.close();
    }
  }
}
