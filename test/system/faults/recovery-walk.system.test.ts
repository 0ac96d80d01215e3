import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { ForkResult } from "@torpor/contract";
import { type FailpointEntry, failpoints } from "@torpor/core";
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import type { z } from "zod";
import { bareTar } from "../harness/bare-image.ts";
import { holdings, hostAgrees } from "../harness/holdings.ts";
import { Registry } from "../harness/registry.ts";
import { removeAll } from "../harness/remove-all.ts";
import { hostRuntime, killHard } from "../harness/runtime.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { layoutFromTar } from "../harness/test-layout.ts";
import { goesOn, hasFiles, startWitness, type Witness } from "../harness/witness.ts";

type Operation = FailpointEntry["operation"];
const name = "walker";
const kept = "walked";
const directory = mkdtempSync(path.join(tmpdir(), "torpor-walk-"));
const armed = path.join(directory, "armed");
let daemon: TestDaemon;
let registry: Registry;
/** Of the last check, which left the sandbox running. */
let going: Witness | undefined;

beforeAll(async () => {
  daemon = await TestDaemon.start({ env: { TORPOR_FAILPOINT: armed } });
  registry = await Registry.open();
  await layoutFromTar(path.join(directory, "layout"), bareTar(directory), {});
  registry.push(path.join(directory, "layout"), "bare:1");
  await daemon.client.images.import({ path: bareTar(directory), reference: "bare" });
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
  await daemon[Symbol.asyncDispose]();
});

const asked: Record<Operation, () => Promise<unknown>> = {
  create: () => daemon.client.create({ image: "debian", name }),
  pause: () => daemon.client.pause(name),
  "pause, files only": () => daemon.client.pause(name, { memory: false }),
  resume: () => daemon.client.resume(name, { memory: "require" }),
  "fork of a running one": () => daemon.client.fork(name, { count: 2, name: "child" }),
  "fork of one at rest": () => daemon.client.fork(name, { count: 2, name: "child" }),
  stop: () => daemon.client.stop(name),
  "stop after its runtime ended": async () => killHard((await hostRuntime(daemon.client, daemon.instance, name)).enginePid),
  start: () => daemon.client.start(name),
  remove: () => daemon.client.remove(name, { force: true }),
  "snapshot of a running one": () => daemon.client.snapshot(name, { name: kept }),
  "snapshot of one at rest": () => daemon.client.snapshot(name, { name: kept }),
  restore: () => daemon.client.restore(name, { snapshot: kept }),
  rebase: () => daemon.client.rebase(name, { image: "bare" }),
};
const operations = Object.keys(asked) as Operation[];
const whenPulling = /^create\.image/;

describe("a daemon that is killed at any step of any operation, and started again (P15, D10)", () => {
  test.each(failpoints)("$operation at $name", async (entry) => {
    const before = await prepare(entry);
    await killedAt(entry, asking(entry));
    await daemon.launch();
    await check(entry, before);
  });

  test.each(["disk", "boot", "commit", "ended"])("the create of a fork's children at create.%s", async (step) => {
    const entry = entriesOf("fork of a running one", false)[0] as FailpointEntry;
    const before = await prepare(entry);
    writeFileSync(armed, `create.${step}@2`);
    await dies(asked[entry.operation]);
    await daemon.launch();
    await check(entry, before);
  });

  test.each(operations)("%s, and killed again in its recovery", async (operation) => {
    const [entry] = entriesOf(operation, false).filter((each) => !whenPulling.test(each.name)) as [FailpointEntry];
    const before = await prepare(entry);
    await killedAt(entry, asking(entry));
    writeFileSync(armed, `${entry.name.split(".")[0]}.commit`);
    await expect(daemon.launch()).rejects.toThrow("did not start");
    await daemon.launch();
    await check(entry, before);
  });

  test("after the removal of all nothing is left in the pool or of the runtimes", async () => {
    for (const { id } of await daemon.client.list()) {
      await daemon.client.remove(id, { force: true });
    }
    await hostAgrees(daemon);
    expect(holdings(daemon)).toEqual({ runtimes: [], groups: [], interfaces: [], disks: 0, checkpoints: [] });
  });
});

/** The state that the operation begins with. undefined: there is no sandbox. */
async function prepare({ from, operation }: FailpointEntry): Promise<Witness | undefined> {
  onTestFailed(() => startAnew());
  const { client } = daemon;
  const known = going;
  going = undefined;
  const state = (await client.list()).find((sandbox) => sandbox.name === name)?.state;
  if (from === "absent") {
    if (state !== undefined) await client.remove(name, { force: true });
    return undefined;
  }
  if (state === undefined) await client.create({ image: "debian", name });
  else if (state === "paused") await client.resume(name);
  else if (state !== "running") await client.start(name);
  const witness = known ?? (await witnessOf());
  if (from === "paused") await client.pause(name);
  if (operation === "restore") await client.snapshot(name, { name: kept });
  if (from === "stopped") await client.stop(name);
  return witness;
}

async function witnessOf(): Promise<Witness> {
  const going = (await daemon.client.sessions(name)).filter(({ end }) => end === null);
  for (const { id } of going) await daemon.client.removeSession(name, id, { force: true });
  return startWitness(daemon.client, name);
}

function asking({ operation, name: failpoint }: FailpointEntry): () => Promise<unknown> {
  return whenPulling.test(failpoint) ? () => daemon.client.create({ image: `${registry.host}/bare:1`, name }) : asked[operation];
}

async function killedAt(entry: FailpointEntry, ask: () => Promise<unknown>): Promise<void> {
  const [first] = entriesOf(entry.operation, false).filter((each) => !whenPulling.test(each.name)) as [FailpointEntry];
  writeFileSync(armed, entry.failing ? `${first.name}:error,${entry.name}` : entry.name);
  await dies(ask);
}

async function dies(ask: () => Promise<unknown>): Promise<void> {
  const outcome = ask().catch((error: unknown) => error);
  await daemon.ended();
  await outcome;
}

async function check(entry: FailpointEntry, before: Witness | undefined): Promise<void> {
  const { client } = daemon;
  const sandboxes = await client.list();
  const found = sandboxes.find((sandbox) => sandbox.name === name);
  expect(entry.allowed).toContain(found?.state ?? "absent");
  expect(sandboxes.every(({ operation }) => operation === null)).toBe(true);
  await hostAgrees(daemon);
  for (const child of sandboxes.filter((sandbox) => sandbox.name !== name)) await checkChild(child.name, before);
  if (entry.operation.startsWith("fork")) await checkForked(sandboxes.length);
  if (entry.operation.startsWith("snapshot")) await checkSnapshot(before);
  if (entry.operation === "rebase") await checkRebased();
  for (const { id } of await client.snapshots.list()) await client.snapshots.remove(id);
  if (found === undefined) await client.create({ image: "debian", name });
  else await checkKept(entry, found.state, before);
  await worksOn();
}

async function checkKept({ processes }: FailpointEntry, state: string, before: Witness | undefined): Promise<void> {
  const { client } = daemon;
  if (state === "paused") await client.resume(name, { memory: processes === "intact" ? "require" : "prefer" });
  else if (state !== "running") await client.start(name);
  if (before === undefined) return;
  await hasFiles(client, name);
  if (processes === "intact") await goesOn(client, name, before);
}

async function checkForked(count: number): Promise<void> {
  expect(count).toBe(3);
  const [operation] = (await daemon.client.operations(name)).filter(({ kind }) => kind === "fork");
  const { children } = (operation?.result ?? {}) as z.infer<typeof ForkResult>;
  expect(children.map(({ error }) => error)).toEqual([null, null]);
  for (const child of children) await daemon.client.remove(child.id, { force: true });
}

/** It is there, once, with its memory. */
async function checkSnapshot(before: Witness | undefined): Promise<void> {
  const { client } = daemon;
  expect((await client.snapshots.list()).map((snapshot) => snapshot.name)).toEqual([kept]);
  await client.create({ snapshot: kept, name: "child" });
  await checkChild("child", before);
  await client.remove("child", { force: true });
}

async function checkRebased(): Promise<void> {
  const { client } = daemon;
  expect(await client.get(name)).toMatchObject({ image: { reference: "bare" } });
  expect((await client.rollback(name)).sandbox).toMatchObject({ state: "stopped", image: { reference: "debian" } });
}

async function checkChild(child: string, before: Witness | undefined): Promise<void> {
  await hasFiles(daemon.client, child);
  if (before !== undefined) await goesOn(daemon.client, child, before);
}

/** The next operations go through, with the memory. */
async function worksOn(): Promise<void> {
  const witness = await witnessOf();
  await daemon.client.pause(name);
  await daemon.client.resume(name, { memory: "require" });
  await goesOn(daemon.client, name, witness);
  going = witness;
}

/** So that one failed test does not fail those after it. */
async function startAnew(): Promise<void> {
  rmSync(armed, { force: true });
  if (daemon.pid === 0) await daemon.launch();
  await removeAll(daemon.client);
}

function entriesOf(operation: Operation, failing: boolean): FailpointEntry[] {
  return failpoints.filter((entry) => entry.operation === operation && entry.failing === failing);
}
