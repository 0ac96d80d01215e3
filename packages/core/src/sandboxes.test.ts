import { describe, expect, test } from "vitest";
import type { GuestUse } from "./guest-use.ts";
import type { SessionFrame } from "./ports/guest.ts";
import type { Lifecycle } from "./sandboxes.ts";
import { MemoryWorld } from "./testing/index.ts";

describe("the way of a sandbox", () => {
  test("create, pause, resume: the counter goes on with the same pid", async () => {
    const { world, lifecycle } = await withSandbox();
    const session = await startCounter(lifecycle, "base");
    for (let tick = 0; tick < 3; tick++) world.engine.tick();

    const paused = await lifecycle.pause("base");
    expect(paused.operation).toMatchObject({ kind: "pause", status: "succeeded", phase: "done", result: { memory: true } });
    expect(paused.operation.result.releasedBytes).toBeGreaterThan(0);
    expect(Object.keys(paused.operation.result.phases as object)).toEqual(["quiesce", "freeze", "capture", "seal", "reclaim"]);
    expect(paused.sandbox).toMatchObject({ state: "paused", runtimeId: null, operation: null });
    expect(await world.engine.list()).toEqual([]);
    world.engine.tick();

    const resumed = await lifecycle.resume("base");
    expect(resumed.operation).toMatchObject({ status: "succeeded", result: { restored: "memory" } });
    expect(resumed.sandbox).toMatchObject({ state: "running", generation: 2, restored: "memory", checkpoint: null, pausedAt: null });
    world.engine.tick();
    const guest = await lifecycle.guest("base");
    expect(await guest.sessions.get("se_counter")).toMatchObject({ pid: session.pid, end: null, lastSeq: 4 });
    expect(await printed(guest, "se_counter", 2, 2)).toEqual(["3\n", "4\n"]);
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(1);
    expect(await world.checkpoints.list()).toEqual([]);
  });

  test("an attached stream ends as paused, and gives what was missed after the resume", async () => {
    const { world, lifecycle } = await withSandbox();
    await startCounter(lifecycle, "base");
    const guest = await lifecycle.guest("base");
    const frames = gather(guest.sessions.attach("se_counter", 0, false));
    world.engine.tick();
    await lifecycle.pause("base");
    expect((await frames).at(-1)).toMatchObject({ type: "end", end: { reason: "paused", exitCode: null } });
  });

  test("fork: children count on by themselves, the source goes on", async () => {
    const { world, lifecycle } = await withSandbox();
    await startCounter(lifecycle, "base");
    world.engine.tick();
    const { runtimeId } = await lifecycle.get("base");
    const before = await world.engine.guest(runtimeId ?? "");
    const { operation, sandbox } = await lifecycle.fork("base", { name: "kid", count: 2 });
    expect(operation).toMatchObject({
      status: "succeeded",
      result: {
        children: [
          { name: "kid-1", error: null },
          { name: "kid-2", error: null },
        ],
      },
    });
    expect(sandbox).toMatchObject({ state: "running", generation: 1 });
    expect(await world.engine.guest(runtimeId ?? "")).toBe(before);
    world.engine.tick();
    const all = await lifecycle.list();
    expect(all.map(({ name, parentId, generation }) => ({ name, parentId, generation }))).toEqual([
      { name: "base", parentId: null, generation: 1 },
      { name: "kid-1", parentId: sandbox?.id, generation: 1 },
      { name: "kid-2", parentId: sandbox?.id, generation: 1 },
    ]);
    expect(new Set(all.map(({ address }) => address)).size).toBe(3);
    for (const name of ["base", "kid-1", "kid-2"]) expect(await printed(await lifecycle.guest(name), "se_counter", 1, 1)).toEqual(["2\n"]);
    await lifecycle.idle();
    expect(await world.disks.list()).toHaveLength(3);
    expect(await world.checkpoints.list()).toEqual([]);
  });

  test("F09: a fork of a fork can be paused and resumed", async () => {
    const { world, lifecycle } = await withSandbox();
    await startCounter(lifecycle, "base");
    for (const [from, to] of [
      ["base", "one"],
      ["one", "two"],
      ["two", "three"],
    ] as const) {
      world.engine.tick();
      expect((await lifecycle.fork(from, { name: to })).operation.status).toBe("succeeded");
    }
    await lifecycle.pause("three");
    const { operation } = await lifecycle.resume("three", { memory: "require" });
    expect(operation.result.restored).toBe("memory");
    expect(await printed(await lifecycle.guest("three"), "se_counter", 2, 1)).toEqual(["3\n"]);
  });

  test("a paused sandbox forks without waking", async () => {
    const { world, lifecycle } = await withSandbox();
    await startCounter(lifecycle, "base");
    world.engine.tick();
    const paused = await lifecycle.pause("base");
    world.clock.advance(1000);
    const { operation, sandbox } = await lifecycle.fork("base", { name: "kid" });
    expect(operation.status).toBe("succeeded");
    expect(sandbox).toEqual(paused.sandbox);
    expect(await printed(await lifecycle.guest("kid"), "se_counter", 0, 1)).toEqual(["1\n"]);
    expect((await lifecycle.resume("base", { memory: "require" })).operation.status).toBe("succeeded");
  });

  test("stop gives the memory up, start boots fresh, files stay", async () => {
    const { world, lifecycle } = await withSandbox();
    await write(await lifecycle.guest("base"), "/data/x", "kept");
    await write(await lifecycle.guest("base"), "/tmp/y", "gone");
    await lifecycle.pause("base");
    expect((await lifecycle.stop("base")).sandbox).toMatchObject({ state: "stopped", checkpoint: null });
    expect(await world.checkpoints.list()).toEqual([]);
    expect((await lifecycle.start("base")).sandbox).toMatchObject({ state: "running", generation: 2, restored: "files" });
    const guest = await lifecycle.guest("base");
    expect(await read(guest, "/data/x")).toBe("kept");
    await expect(read(guest, "/tmp/y")).rejects.toMatchObject({ code: "file_not_found" });
  });

  test.each(["running", "paused", "stopped"])("remove with force frees everything of a %s one", async (state) => {
    const { world, lifecycle } = await withSandbox();
    if (state === "paused") await lifecycle.pause("base");
    if (state === "stopped") await lifecycle.stop("base");
    const { operation, sandbox } = await lifecycle.remove("base", { force: true });
    expect(operation).toMatchObject({ kind: "remove", status: "succeeded" });
    expect(sandbox).toBeNull();
    expect([await world.engine.list(), await world.disks.list(), await world.checkpoints.list()]).toEqual([[], [], []]);
    expect(await lifecycle.operation(operation.id)).toMatchObject({ status: "succeeded" });
  });
});

async function withSandbox(): Promise<{ world: MemoryWorld; lifecycle: Lifecycle }> {
  const world = new MemoryWorld();
  const lifecycle = world.lifecycle();
  const { operation } = await lifecycle.create({ image: "debian", name: "base" });
  expect(operation).toMatchObject({ status: "succeeded", error: null });
  return { world, lifecycle };
}

async function startCounter(lifecycle: Lifecycle, name: string) {
  return (await lifecycle.guest(name)).sessions.start({ sessionId: "se_counter", argv: ["counter"], hold: false });
}

async function printed(guest: GuestUse, sessionId: string, after: number, count: number): Promise<string[]> {
  const texts: string[] = [];
  for await (const frame of guest.sessions.attach(sessionId, after, false)) {
    if (frame.type === "output") texts.push(new TextDecoder().decode(frame.data));
    if (texts.length === count) break;
  }
  return texts;
}

async function gather(frames: AsyncIterable<SessionFrame>): Promise<SessionFrame[]> {
  const all: SessionFrame[] = [];
  for await (const frame of frames) all.push(frame);
  return all;
}

async function write(guest: GuestUse, path: string, text: string): Promise<void> {
  const content = (async function* () {
    yield new TextEncoder().encode(text);
  })();
  await guest.files.write(path, content, {});
}

async function read(guest: GuestUse, path: string): Promise<string> {
  const { content } = await guest.files.read(path, {});
  let text = "";
  for await (const chunk of content) text += new TextDecoder().decode(chunk);
  return text;
}
