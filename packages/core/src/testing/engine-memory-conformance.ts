import { expect, test } from "vitest";
import {
  bootOne,
  bytes,
  captureOf,
  checkpointOf,
  type EngineHarness,
  framesOf,
  greeted,
  linesOf,
  specFor,
  textOf,
} from "./engine-harness.ts";

/** Freeze, capture, restore. An engine that can't must refuse it by its own name. */
export function memoryConformance(current: () => EngineHarness): void {
  /** false: it can't, and said so. */
  async function canPause(): Promise<boolean> {
    const { engine } = current();
    const { capabilities } = await engine.describe();
    if (capabilities.pause?.supported) return true;
    const { spec } = await bootOne(current());
    const refusal = { code: "capability_unsupported", message: expect.stringContaining(engine.name) };
    await expect(engine.freeze(spec.runtimeId)).rejects.toMatchObject(refusal);
    expect(await engine.inspect(spec.runtimeId)).toEqual({ state: "running" });
    return false;
  }

  test("a frozen runtime does not go on, a thawed one does", async () => {
    if (!(await canPause())) return;
    const { engine, ids, counter, advance, passed } = current();
    const { spec, guest } = await bootOne(current());
    const sessionId = ids.next("se");
    const begun = passed();
    await guest.sessions.start({ sessionId, argv: [...counter], hold: false });
    await advance(5);
    await engine.freeze(spec.runtimeId);
    await engine.freeze(spec.runtimeId);
    expect(await engine.inspect(spec.runtimeId)).toEqual({ state: "frozen" });
    const from = passed();
    await advance(40);
    const frozen = passed() - from;
    await engine.thaw(spec.runtimeId);
    await engine.thaw(spec.runtimeId);
    const { lastSeq } = await guest.sessions.get(sessionId);
    // However long each step took on a busy machine.
    expect(lastSeq).toBeLessThan(passed() - begun - frozen + 10);
    while ((await guest.sessions.get(sessionId)).lastSeq <= lastSeq) await advance(1);
  });

  test("what a frozen runtime uses is told without waiting for it", async () => {
    if (!(await canPause())) return;
    const { engine } = current();
    const { spec } = await bootOne(current());
    await engine.freeze(spec.runtimeId);
    expect(await engine.stats(spec.runtimeId)).toMatchObject({ memoryBytes: expect.any(Number), processes: null });
    await engine.thaw(spec.runtimeId);
    expect(await engine.stats(spec.runtimeId)).toMatchObject({ processes: expect.any(Number) });
  });

  test("a restored runtime has its processes where they were", async () => {
    if (!(await canPause())) return;
    const { engine, checkpoints, ids, counter, advance } = current();
    const booted = await bootOne(current());
    const { spec, guest } = booted;
    const sessionId = ids.next("se");
    const { pid } = await guest.sessions.start({ sessionId, argv: [...counter], hold: false });
    await guest.files.write("/tmp/in-memory", bytes("tmpfs"), {});
    await advance(3);
    const manifest = await checkpointOf(current(), booted);
    expect(manifest.parts.length).toBeGreaterThan(0);
    const stream = framesOf(guest.sessions.attach(sessionId, 0, false));
    guest.close("paused");
    await stream.then(
      (frames) => expect(frames.at(-1)).toMatchObject({ type: "end", end: { reason: "paused" } }),
      (error: unknown) => expect(error).toMatchObject({ code: "session_paused" }),
    );
    await engine.destroy(spec.runtimeId);
    await advance(10);

    const restored = { ...spec, runtimeId: ids.next("rt") };
    await engine.restore(restored, manifest, checkpoints.locate(manifest.id));
    const again = await greeted(current(), restored, "resumed");
    expect(await again.sessions.get(sessionId)).toMatchObject({ pid, end: null });
    await advance(3);
    const lines = await linesOf(again, sessionId, 6);
    expect(lines).toEqual(["1", "2", "3", "4", "5", "6"]);
    const { content } = await again.files.read("/tmp/in-memory", {});
    expect(await textOf(content)).toBe("tmpfs");
  });

  test("a fork's source goes on over the same line, and its child by itself on a copy of the disk", async () => {
    if (!(await canPause())) return;
    const { engine, checkpoints, disks, ids, counter, advance } = current();
    const booted = await bootOne(current());
    const { spec, guest, diskId } = booted;
    const sessionId = ids.next("se");
    await guest.sessions.start({ sessionId, argv: [...counter], hold: false });
    await guest.files.write("/data/x", bytes("both"), { parents: true });
    const manifest = await checkpointOf(current(), booted);
    const childDisk = ids.next("dk");
    await disks.clone(diskId, childDisk);
    await engine.thaw(spec.runtimeId);
    await guest.release();
    expect(await engine.guest(spec.runtimeId)).toBe(guest);

    const childSpec = specFor(current(), childDisk);
    await engine.restore(childSpec, manifest, checkpoints.locate(manifest.id));
    const child = await greeted(current(), childSpec, "forked");
    await advance(4);
    for (const each of [guest, child]) expect(await linesOf(each, sessionId, 3)).toEqual(["1", "2", "3"]);
    await child.files.write("/data/x", bytes("child"), {});
    expect(await textOf((await guest.files.read("/data/x", {})).content)).toBe("both");
    expect(await textOf((await child.files.read("/data/x", {})).content)).toBe("child");
  });

  test("hashes that are made while a capture is written are those of what was written", async () => {
    if (!(await canPause())) return;
    const booted = await bootOne(current());
    const { location, capture } = await captureOf(current(), booted, { forSeal: true });
    const bare = capture.parts.map(({ name, sizeBytes }) => ({ name, sizeBytes }));
    expect(capture.parts).toEqual(await current().engine.digest(booted.spec.runtimeId, location, bare));
  });

  test("the disk of a frozen runtime has all files, once it is synced", async () => {
    if (!(await canPause())) return;
    const { engine, disks, ids } = current();
    const { spec, guest, diskId } = await bootOne(current());
    await guest.files.write("/data/x", bytes("written at last"), { parents: true });
    await expect(engine.syncDisk(spec.runtimeId)).rejects.toMatchObject({ code: "engine_failed" });
    await engine.freeze(spec.runtimeId);
    await engine.syncDisk(spec.runtimeId);
    const copy = ids.next("dk");
    await disks.clone(diskId, copy);
    const child = specFor(current(), copy);
    await engine.boot(child);
    const { content } = await (await greeted(current(), child, "boot")).files.read("/data/x", {});
    expect(await textOf(content)).toBe("written at last");
  });

  test("a damaged part is named, and nothing is started", async () => {
    if (!(await canPause())) return;
    const { engine, checkpoints, disks, ids, corrupt } = current();
    const booted = await bootOne(current());
    const manifest = await checkpointOf(current(), booted);
    await engine.destroy(booted.spec.runtimeId);
    for (const { name } of manifest.parts) {
      const copy = ids.next("dk");
      await disks.clone(booted.diskId, copy);
      await corrupt(manifest.id, name);
      const restored = engine.restore(specFor(current(), copy), manifest, checkpoints.locate(manifest.id));
      const damaged = manifest.parts.slice(0, manifest.parts.findIndex((part) => part.name === name) + 1).map((part) => part.name);
      await expect(restored).rejects.toMatchObject({
        code: "checkpoint_corrupt",
        message: expect.stringMatching(new RegExp(damaged.map(escaped).join("|"))),
      });
    }
    expect(await engine.list()).toEqual([]);
  });

  test("a checkpoint of another version of the engine is refused", async () => {
    if (!(await canPause())) return;
    const { engine, checkpoints } = current();
    const booted = await bootOne(current());
    const manifest = await checkpointOf(current(), booted);
    await engine.destroy(booted.spec.runtimeId);
    const other = { ...manifest, engine: { ...manifest.engine, version: "another", sha256: "f".repeat(64) } };
    await expect(engine.restore(booted.spec, other, checkpoints.locate(manifest.id))).rejects.toMatchObject({
      code: "checkpoint_incompatible",
    });
    expect(await engine.list()).toEqual([]);
  });

  test("a frozen runtime can be destroyed", async () => {
    if (!(await canPause())) return;
    const { engine } = current();
    const { spec } = await bootOne(current());
    await engine.freeze(spec.runtimeId);
    await engine.destroy(spec.runtimeId);
    expect(await engine.inspect(spec.runtimeId)).toEqual({ state: "absent" });
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
