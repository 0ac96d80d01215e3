import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox, Snapshot } from "@torpor/contract";
import type { Store } from "@torpor/core";
import { MemoryWorld } from "@torpor/core/testing";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";

let directory: string;
let path: string;
let store: Store;
let world: MemoryWorld;

/** Two sandboxes: one paused, whose record is going to be damaged, and one that runs. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-damaged-"));
  path = join(directory, "torpor.db");
  store = await openSqliteStore(path);
  world = new MemoryWorld({ store });
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "hurt" });
  await lifecycle.create({ image: "debian", name: "well" });
  await lifecycle.pause("hurt");
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

/** As somebody does with sqlite3 in a shell. */
function edit(
  table: "sandboxes" | "operations" | "snapshots" | "webhooks" | "deliveries",
  where: string,
  change: (record: Record<string, unknown>) => unknown,
): void {
  const database = new Database(path);
  const { record } = database.prepare(`select record from ${table} where ${where}`).get() as { record: string };
  const changed = change(JSON.parse(record) as Record<string, unknown>);
  database.prepare(`update ${table} set record = ? where ${where}`).run(typeof changed === "string" ? changed : JSON.stringify(changed));
  database.close();
}

const damages: readonly (readonly [title: string, field: string, change: (record: Record<string, unknown>) => unknown])[] = [
  ["a field of another type", "resources", (record) => ({ ...record, resources: "much" })],
  ["a missing field", "labels", ({ labels: _, ...record }) => record],
  ["a state that there is not", "state", (record) => ({ ...record, state: "hibernating" })],
  ["a time that is none", "updatedAt", (record) => ({ ...record, updatedAt: "yesterday" })],
  ["a broken checkpoint", "checkpoint", (record) => ({ ...record, checkpoint: { ...(record.checkpoint as object), storedBytes: "5" } })],
  ["no JSON at all", "record", (record) => JSON.stringify(record).slice(0, -20)],
];

describe("a sandbox's record that was edited by hand", () => {
  test.each(damages)(
    "%s: the daemon starts, shows it as failed with the field, and keeps all that it has",
    async (_title, field, change) => {
      edit("sandboxes", "name = 'hurt'", change);
      const kept = [await world.disks.list(), await world.checkpoints.list()];
      const lifecycle = world.lifecycle();
      await lifecycle.recover();
      const [hurt, well] = await lifecycle.list();
      expect(hurt).toMatchObject({
        name: "hurt",
        state: "failed",
        failure: { code: "storage_failed", message: expect.stringContaining(`${field} is not`) },
      });
      expect(Sandbox.safeParse(hurt).error).toBeUndefined();
      expect(well).toMatchObject({ name: "well", state: "running" });
      expect([await world.disks.list(), await world.checkpoints.list()]).toEqual(kept);
      expect(await lifecycle.imagesInUse()).toContain(well?.image.digest);
      const refused = { code: "storage_failed", message: expect.stringMatching(/sandbox hurt \(sb_\w+\)/), details: { field } };
      for (const command of ["pause", "resume", "fork", "stop", "start", "remove"] as const) {
        await expect(lifecycle[command]("hurt")).rejects.toMatchObject(refused);
      }
      await expect(lifecycle.guest("hurt")).rejects.toMatchObject(refused);
      await lifecycle.pause("well");
    },
  );

  test.each(damages)("%s: it can be given up by force, and the next start frees the rest of it", async (_title, _field, change) => {
    edit("sandboxes", "name = 'hurt'", change);
    await world.lifecycle().remove("hurt", { force: true });
    expect((await world.lifecycle().list()).map(({ name }) => name)).toEqual(["well"]);
    await world.lifecycle().recover();
    expect(await world.disks.list()).toHaveLength(1);
    expect(await world.checkpoints.list()).toEqual([]);
  });

  test("repaired by hand it is as it was", async () => {
    const before = await store.findSandbox("hurt");
    edit("sandboxes", "name = 'hurt'", (record) => ({ ...record, env: 7 }));
    await world.lifecycle().recover();
    edit("sandboxes", "name = 'hurt'", (record) => ({ ...record, env: {} }));
    expect(await store.findSandbox("hurt")).toEqual(before);
    expect((await world.lifecycle().resume("hurt")).operation.result).toMatchObject({ restored: "memory" });
  });

  test("fields that a newer version wrote stay", async () => {
    edit("sandboxes", "name = 'hurt'", (record) => ({ ...record, later: { x: 1 } }));
    await world.lifecycle().resume("hurt");
    expect(await store.findSandbox("hurt")).toMatchObject({ state: "running", later: { x: 1 } });
  });
});

describe("a snapshot's record that was edited by hand", () => {
  const kept = async () => [(await world.disks.list()).sort(), (await world.checkpoints.list()).sort()];

  beforeEach(async () => {
    const lifecycle = world.lifecycle();
    const expiresAt = new Date(world.clock.now().getTime() + 1000).toISOString();
    await lifecycle.snapshot("hurt", { name: "memory", expiresAt });
    await lifecycle.snapshot("well", { name: "files", memory: false });
    await lifecycle.remove("hurt", { force: true });
  });

  const hurts: readonly (readonly [title: string, field: string, change: (record: Record<string, unknown>) => unknown])[] = [
    ["a disk that is none", "diskId", (record) => ({ ...record, diskId: [record.diskId] })],
    [
      "a checkpoint without its size",
      "checkpoint",
      (record) => ({ ...record, checkpoint: { id: (record.checkpoint as { id: string }).id } }),
    ],
    ["a missing field", "source", ({ source: _, ...record }) => record],
    ["no JSON at all", "record", (record) => JSON.stringify(record).slice(0, -1)],
  ];

  test.each(hurts)("%s: nothing of what it may hold is swept, expired or used, and it says so", async (_title, field, change) => {
    const before = await kept();
    edit("snapshots", "name = 'memory'", change);
    const lifecycle = world.lifecycle();
    await lifecycle.recover();
    world.clock.advance(60_000);
    expect(await lifecycle.snapshots.expire()).toBe(0);
    expect(await kept()).toEqual(before);
    const [memory, files] = await lifecycle.snapshots.list();
    expect(Snapshot.safeParse(memory).error).toBeUndefined();
    expect(memory).toMatchObject({
      name: "memory",
      failure: { code: "storage_failed", message: expect.stringContaining(`${field} is not`) },
    });
    expect(files).toMatchObject({ name: "files", failure: null });
    expect(await lifecycle.imagesInUse()).toContain(files?.image.digest);
    const refused = { code: "storage_failed", message: expect.stringMatching(/snapshot memory \(sn_\w+\)/), details: { field } };
    await lifecycle.pause("well");
    await expect(lifecycle.create({ snapshot: "memory" })).rejects.toMatchObject(refused);
    await expect(lifecycle.restore("well", { snapshot: "memory" })).rejects.toMatchObject(refused);
    await expect(lifecycle.snapshots.update("memory", { pinned: true })).rejects.toMatchObject(refused);
    await expect(lifecycle.snapshots.remove("memory")).rejects.toMatchObject(refused);
  });

  test.each(hurts)("%s: it can be given up by force, and the next start frees the rest of it", async (_title, _field, change) => {
    edit("snapshots", "name = 'memory'", change);
    await world.lifecycle().snapshots.remove("memory", { force: true });
    await world.lifecycle().recover();
    expect((await world.lifecycle().snapshots.list()).map(({ name }) => name)).toEqual(["files"]);
    expect(await world.disks.list()).toHaveLength(2);
    expect(await world.checkpoints.list()).toEqual([]);
  });

  test("repaired by hand it is as it was", async () => {
    const before = await store.findSnapshot("memory");
    edit("snapshots", "name = 'memory'", (record) => ({ ...record, env: 7 }));
    await world.lifecycle().recover();
    edit("snapshots", "name = 'memory'", (record) => ({ ...record, env: {} }));
    expect(await store.findSnapshot("memory")).toEqual(before);
    expect((await world.lifecycle().create({ snapshot: "memory" })).sandbox).toMatchObject({ restored: "memory" });
  });
});

describe("an operation's record", () => {
  test("that has ended and can't be read is named by who looks at it", async () => {
    const [operation] = await store.listOperations((await store.findSandbox("hurt"))?.id ?? "");
    edit("operations", `id = '${operation?.id}'`, (record) => ({ ...record, startedAt: 5 }));
    const told = { code: "storage_failed", message: expect.stringContaining(`operation ${operation?.id} can't be read: startedAt`) };
    await expect(world.lifecycle().operation(operation?.id ?? "")).rejects.toMatchObject(told);
    await expect(world.lifecycle().recover()).resolves.toMatchObject({ operations: 0 });
  });

  test("at work that can't be read is given up, and its sandbox can be started", async () => {
    await killedInPause("well");
    edit("operations", "status = 'running'", (record) => ({ ...record, notes: [] }));
    const lifecycle = world.lifecycle();
    await lifecycle.recover();
    expect(await lifecycle.get("well")).toMatchObject({
      state: "failed",
      operation: null,
      failure: { message: expect.stringContaining("notes is not") },
    });
    expect((await lifecycle.operations("well"))[0]).toMatchObject({ status: "failed", error: { code: "storage_failed" } });
    expect((await lifecycle.start("well")).sandbox).toMatchObject({ state: "running" });
  });

  test("of a sandbox that can't be read is given up, and the sandbox left as it is", async () => {
    await killedInPause("well");
    edit("sandboxes", "name = 'well'", (record) => ({ ...record, engine: null }));
    await world.lifecycle().recover();
    expect(await world.lifecycle().list()).toMatchObject([{ name: "hurt" }, { name: "well", state: "failed" }]);
    expect(await world.engine.list()).toHaveLength(1);
  });

  test.each([
    ["kind", "hibernate", /operation op_\w+ is of a kind that this Torpor does not know: start the newer version/],
    ["phase", "dream", /operation op_\w+ \(pause\) is in phase dream, which this Torpor does not know: start the newer version/],
  ])("with an unknown %s is from a newer version: the daemon does not start, and touches nothing", async (field, value, message) => {
    await killedInPause("well");
    edit("operations", "status = 'running'", (record) => ({ ...record, [field]: value }));
    const before = everything();
    await expect(world.lifecycle().recover()).rejects.toMatchObject({ code: "storage_failed", message: expect.stringMatching(message) });
    expect(everything()).toEqual(before);
  });
});

async function killedInPause(name: string): Promise<void> {
  const reached = Promise.withResolvers<void>();
  const { lifecycle, kill, quiet } = world.daemon(async (step) => {
    if (step !== "pause.capture") return;
    kill();
    reached.resolve();
  });
  void lifecycle.pause(name);
  await reached.promise;
  await quiet();
}

function everything(): unknown {
  const database = new Database(path, { readonly: true });
  const rows = ["sandboxes", "operations", "events", "snapshots"].map((table) => database.prepare(`select * from ${table}`).all());
  database.close();
  return rows;
}

describe("a webhook's record that was edited by hand", () => {
  const url = "https://receiver.example/";

  test("keeps no event from being written, and no other webhook from its own", async () => {
    const { webhooks, pause } = world.lifecycle();
    const hurt = await webhooks.create({ url });
    const well = await webhooks.create({ url });
    edit("webhooks", `id = '${hurt.webhook.id}'`, (record) => ({ ...record, types: "all" }));
    await pause("well");
    expect(await store.listDeliveries({ webhookId: well.webhook.id, limit: 9 })).toMatchObject([{ type: "sandbox.paused" }]);
    expect((await webhooks.list()).map(({ id }) => id)).toEqual([well.webhook.id]);
    await expect(webhooks.get(hurt.webhook.id)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.stringContaining("can't be read"),
    });
  });

  test("holds up its own sandbox's messages at most", async () => {
    const lifecycle = world.lifecycle();
    const { webhook } = await lifecycle.webhooks.create({ url });
    await lifecycle.webhooks.pause(webhook.id);
    for (const name of ["well", "hurt"]) await lifecycle.remove(name, { force: true });
    edit("deliveries", "seq = (select min(seq) from deliveries)", () => "{");
    world.receivers.at(url, () => ({ status: 204, error: null }));
    await lifecycle.webhooks.enable(webhook.id);
    while ((await store.listDeliveries({ webhookId: webhook.id, status: "delivered", limit: 9 })).length < 1);
    expect(world.receivers.posts).toHaveLength(1);
    expect(JSON.parse(world.receivers.posts[0]?.body ?? "")).toMatchObject({ type: "sandbox.removed", data: { data: { name: "hurt" } } });
  });
});
