import { TorporError } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { DiffOptions } from "./comparing.ts";
import type { Lifecycle } from "./sandboxes.ts";
import { FakeClock, MemoryWorld } from "./testing/index.ts";
import { gateAt, withSandbox } from "./testing/scenes.ts";

describe("a comparison", () => {
  test("with the image tells what the sandbox has, in every state, and changes nothing", async () => {
    const { world, lifecycle } = await withSandbox();
    await write(lifecycle, "base", "/data/x", "text");
    const look = async () => ({ differences: await told(lifecycle, "base"), record: await world.store.findSandbox("base") });
    for (const change of [async () => {}, () => lifecycle.pause("base"), () => lifecycle.stop("base")]) {
      await change();
      const before = await world.store.findSandbox("base");
      expect(await look()).toEqual({ differences: ["added /data/x"], record: before });
    }
    expect(await lifecycle.operations("base")).toHaveLength(3);
  });

  test("of two tells what the second has otherwise", async () => {
    const { lifecycle } = await withSandbox();
    await write(lifecycle, "base", "/data/same", "1");
    await write(lifecycle, "base", "/data/changed", "1");
    await lifecycle.fork("base", { name: "kid" });
    await write(lifecycle, "kid", "/data/changed", "2");
    await write(lifecycle, "kid", "/data/new", "2");
    await write(lifecycle, "base", "/data/old", "1");
    await lifecycle.pause("kid");
    const expected = ["changed /data/changed content", "added /data/new", "removed /data/old"];
    expect(await told(lifecycle, "base", { with: "kid" })).toEqual(expected);
    expect((await told(lifecycle, "kid", { with: "base" })).map((line) => line.split(" ")[1])).toEqual([
      "/data/changed",
      "/data/new",
      "/data/old",
    ]);
    expect(await told(lifecycle, "base", { with: "base" })).toEqual([]);
  });

  test("takes snapshots on either side, also when their source is gone", async () => {
    const { lifecycle } = await withSandbox();
    await write(lifecycle, "base", "/data/x", "1");
    await lifecycle.snapshot("base", { name: "before" });
    await write(lifecycle, "base", "/data/x", "2");
    await write(lifecycle, "base", "/data/y", "2");
    expect(await told(lifecycle, "before")).toEqual(["added /data/x"]);
    expect(await told(lifecycle, "before", { with: "base" })).toEqual(["changed /data/x content", "added /data/y"]);
    await lifecycle.snapshot("base", { name: "after", memory: false });
    await lifecycle.remove("base", { force: true });
    expect(await told(lifecycle, "after", { with: "before" })).toEqual(["changed /data/x content", "removed /data/y"]);
    await expect(told(lifecycle, "base")).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("of a running one comes after a sync", async () => {
    const { world, lifecycle } = await withSandbox();
    const synced: string[] = [];
    world.engine.sync = async (runtimeId) => void synced.push(runtimeId);
    await told(lifecycle, "base");
    expect(synced).toEqual([(await lifecycle.get("base")).runtimeId]);
    await lifecycle.pause("base");
    await told(lifecycle, "base");
    expect(synced).toHaveLength(1);
  });

  test("waits for the operation at work, and no longer than it may", async () => {
    for (const auto of [true, false]) {
      const gate = gateAt("pause.capture");
      const lifecycle = new MemoryWorld({ clock: new FakeClock({ auto }) }).lifecycle(gate.failpoint);
      await lifecycle.create({ image: "debian", name: "base" });
      const paused = lifecycle.pause("base");
      await gate.reached;
      const found = told(lifecycle, "base");
      // With this clock every wait is over at once.
      if (auto) await expect(found).rejects.toMatchObject({ code: "operation_active" });
      gate.open();
      if (!auto) expect(await found).toEqual([]);
      await paused;
    }
  });

  test("does not wait for a fork", async () => {
    const gate = gateAt("fork.children");
    const lifecycle = new MemoryWorld().lifecycle(gate.failpoint);
    await lifecycle.create({ image: "debian", name: "base" });
    const forked = lifecycle.fork("base");
    await gate.reached;
    expect(await told(lifecycle, "base")).toEqual([]);
    gate.open();
    await forked;
  });

  test("of a sandbox that was moved to another disk meanwhile looks again", async () => {
    const { world, lifecycle } = await withSandbox();
    await write(lifecycle, "base", "/data/x", "text");
    await lifecycle.pause("base");
    const { compare } = world.comparison;
    world.comparison.compare = async function* (...trees) {
      world.comparison.compare = compare;
      await lifecycle.resume("base");
      await lifecycle.idle();
      yield* world.comparison.compare(...trees);
    };
    expect(await told(lifecycle, "base")).toEqual(["added /data/x"]);
  });

  test("of what is not there is refused", async () => {
    const { world, lifecycle } = await withSandbox();
    await expect(told(lifecycle, "nobody")).rejects.toMatchObject({ code: "sandbox_not_found" });
    await expect(told(lifecycle, "base", { with: "nobody" })).rejects.toMatchObject({ code: "sandbox_not_found" });
    await lifecycle.stop("base");
    await world.disks.remove((await world.store.findSandbox("base"))?.diskId ?? "");
    await expect(told(lifecycle, "base")).rejects.toBeInstanceOf(TorporError);
  });
});

async function told(lifecycle: Lifecycle, idOrName: string, options?: DiffOptions): Promise<string[]> {
  const lines: string[] = [];
  for await (const { change, path, what } of lifecycle.diff(idOrName, options)) lines.push([change, path, ...what].join(" "));
  return lines;
}

async function write(lifecycle: Lifecycle, sandbox: string, path: string, text: string): Promise<void> {
  const { files } = await lifecycle.guest(sandbox);
  await files.write(path, [new TextEncoder().encode(text)] as unknown as AsyncIterable<Uint8Array>, {});
}
