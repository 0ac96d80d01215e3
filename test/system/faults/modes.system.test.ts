import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { ForkResult } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { parseManifest, renderManifest } from "../../../packages/daemon/src/checkpoints/manifest.ts";
import { armedWorld } from "../harness/armed-world.ts";
import { Follower } from "../harness/follow.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually, inside, output } from "../harness/inside.ts";
import { hostRuntime, killHard } from "../harness/runtime.ts";
import { goesOn, hasFiles, startWitness } from "../harness/witness.ts";

const world = armedWorld();
const name = world.sandbox;

describe("pause and resume by their modes", () => {
  test("files only: nothing is claimed of memory, require is refused and changes nothing, prefer boots and says why", async () => {
    const { client } = world.daemon;
    const { operation } = await client.pause(name, { memory: false });
    expect(operation.result).toMatchObject({ memory: false, checkpointBytes: 0 });
    const paused = await client.get(name);
    expect(paused).toMatchObject({ state: "paused", checkpoint: null, runtimeId: null });
    await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({ message: expect.stringContaining("memory") });
    expect(await client.get(name)).toEqual(paused);
    const resumed = await client.resume(name);
    expect(resumed.operation.result).toMatchObject({ restored: "files", reason: expect.stringContaining("paused with files only") });
    expect(await lastEvents(2)).toMatchObject([{ type: "sandbox.resumed", data: { restored: "files" } }, { type: "memory_lost" }]);
    await hasFiles(client, name);
    await hostAgrees(world.daemon);
  });

  test("with memory: the result and the events say that it was kept and brought back", async () => {
    const { client } = world.daemon;
    const { operation } = await client.pause(name);
    expect(operation.result).toMatchObject({ memory: true, checkpointBytes: expect.any(Number), releasedBytes: expect.any(Number) });
    expect(operation.result.checkpointBytes).toBeGreaterThan(0);
    const resumed = await client.resume(name);
    expect(resumed.operation.result).toMatchObject({ restored: "memory" });
    expect(resumed.operation.result).not.toHaveProperty("reason");
    expect(await lastEvents(2)).toMatchObject([{ type: "sandbox.resumed", data: { restored: "memory" } }, { type: "memory_restored" }]);
    await goesOn(client, name, world.witness);
    await hostAgrees(world.daemon);
  });

  test("discard: boots from the files, gives the memory up for good, and that is no loss", async () => {
    const { client } = world.daemon;
    await client.pause(name);
    const { operation } = await client.resume(name, { memory: "discard" });
    expect(operation.result).toMatchObject({ restored: "files" });
    expect((await client.events(name)).map(({ type }) => type)).not.toContain("memory_lost");
    expect((await inside(client, name, "test -e /dev/shm/n")).end.exitCode).toBe(1);
    await hasFiles(client, name);
    await hostAgrees(world.daemon);
  });

  test("memory is never restored over a disk that moved on", async () => {
    const { client } = world.daemon;
    await client.pause(name);
    const manifest = path.join(world.daemon.data, "pool/checkpoints", (await client.get(name)).checkpoint?.id ?? "", "manifest.json");
    const original = readFileSync(manifest, "utf8");
    writeFileSync(manifest, renderManifest({ ...parseManifest(original), diskId: "dk_aaaaaaaaaaaaaaaa" }));
    await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({
      code: "checkpoint_incompatible",
      message: expect.stringContaining("another disk state"),
    });
    // The fall-back writes to the disk: the memory fits it no more, also when what was wrong with it is put right.
    expect((await client.resume(name)).operation.result).toMatchObject({ restored: "files" });
    writeFileSync(manifest, original);
    await output(client, name, "echo later > /root/later");
    await client.pause(name, { memory: false });
    await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({ message: expect.stringContaining("memory") });
    await client.resume(name);
    expect(await output(client, name, "cat /root/later")).toBe("later");
    await hostAgrees(world.daemon);
  });
});

test("a sandbox that is set to it is booted anew from its files when its engine crashed, and says so; what was stopped stays stopped", async () => {
  const { client } = world.daemon;
  await client.create({ image: "debian", name: "restarting", restart: "on-failure" });
  await startWitness(client, "restarting");
  await killHard((await hostRuntime(client, world.daemon.instance, "restarting")).enginePid);
  const again = await eventually(
    () => client.get("restarting"),
    ({ state, generation }) => state === "running" && generation === 2,
  );
  expect(again).toMatchObject({ restart: "on-failure", restored: "files", failure: null });
  await hasFiles(client, "restarting");
  const restarted = (await client.events("restarting")).filter(({ type }) => type === "sandbox.restarted");
  expect(restarted).toMatchObject([{ data: { attempt: 1, generation: 2, reason: expect.stringContaining("SIGKILL") } }]);
  await client.stop("restarting");
  await world.daemon.terminate();
  await world.daemon.launch();
  expect((await world.daemon.client.get("restarting")).state).toBe("stopped");
  await hostAgrees(world.daemon);
});

test("twenty resumes and twenty commands at once are one resume of one runtime (P19)", async () => {
  const { client } = world.daemon;
  await output(client, name, "head -c 16 /dev/urandom | od -An -tx1 > /dev/shm/boot");
  const boot = await output(client, name, "cat /dev/shm/boot");
  const { generation } = await client.get(name);
  await client.pause(name);
  const resumes = Array.from({ length: 20 }, () => client.resume(name, { memory: "require" }));
  const commands = Array.from({ length: 20 }, () =>
    output(client, name, "cat /dev/shm/boot; echo $TORPOR_GENERATION").catch((error: unknown) => error),
  );
  const operations = new Set(
    (await Promise.all(resumes)).filter(({ operation }) => operation.result.unchanged !== true).map(({ operation }) => operation.id),
  );
  expect(operations.size).toBe(1);
  for (const said of await Promise.all(commands)) {
    // Those that came before the first resume met a paused sandbox.
    if (typeof said === "string") expect(said.split("\n")).toEqual([boot.trimEnd(), String(generation + 1)]);
    else expect(said).toMatchObject({ code: "sandbox_not_running" });
  }
  expect(await client.get(name)).toMatchObject({ state: "running", generation: generation + 1 });
  await goesOn(client, name, world.witness);
  await hostAgrees(world.daemon);
});

test("a child that is paused as soon as it is forked has the whole tree after its resume (F03)", async () => {
  const { client } = world.daemon;
  await output(
    client,
    name,
    "mkdir -p /data/a/b; for i in $(seq 200); do head -c 5000 /dev/urandom > /data/a/b/$i; done; ln -s a /data/link",
  );
  const tree = "cd /data && find . -type f | sort | xargs sha256sum | sha256sum; readlink link";
  const before = await output(client, name, tree);
  const { operation } = await client.fork(name, { name: "child" });
  const [child] = (operation.result as z.infer<typeof ForkResult>).children;
  await client.pause("child");
  await client.resume("child", { memory: "require" });
  expect((await client.get("child")).id).toBe(child?.id);
  expect(await output(client, "child", tree)).toBe(before);
  await goesOn(client, "child", world.witness);
});

test("of three children the one that fails is told by its cause, the others stay, nothing else is left (F06)", async () => {
  const { client } = world.daemon;
  writeFileSync(world.armed, "create.boot@2:error");
  const { operation } = await client.fork(name, { name: "child", count: 3 });
  const { children } = operation.result as z.infer<typeof ForkResult>;
  expect(operation.status).toBe("succeeded");
  expect(children.map(({ error }) => error?.code ?? null).sort()).toEqual(["engine_failed", null, null]);
  const alive = children.filter(({ error }) => error === null);
  expect((await client.list()).map(({ id }) => id).sort()).toEqual([(await client.get(name)).id, ...alive.map(({ id }) => id)].sort());
  for (const { id } of alive) await goesOn(client, id, world.witness);
  await hostAgrees(world.daemon);
});

test("what a process asks for its own sandbox outlives the daemon, and is done once", async () => {
  const asker = "asker";
  await world.daemon.client.create({ image: "debian", name: asker, selfControl: ["fork"] });
  writeFileSync(world.armed, "fork.thaw:kill");
  const argv = ["sh", "-c", "torpor fork -n 2 --name kid; echo $?"];
  const { id } = await world.daemon.client.startSession(asker, { argv });
  await world.daemon.ended();
  await world.daemon.launch();
  const said = new Follower(await world.daemon.client.attach(asker, id));
  await said.finished;
  expect(said.text).toMatch(/^parent of \S+ kid-1\nparent of \S+ kid-2\n0\n$/);
  expect((await world.daemon.client.operations(asker)).map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    "fork recovery",
    "create user",
  ]);
  expect((await world.daemon.client.list()).map(({ name: each }) => each).sort()).toEqual([asker, name, "kid-1", "kid-2"]);
  await hostAgrees(world.daemon);
});

test("the network goes on without the daemon, and its rules are back with the next one (D13)", async () => {
  await world.daemon.client.startSession(name, { argv: ["python3", "-m", "http.server", "8000", "--directory", "/root"] });
  const { address } = await world.daemon.client.get(name);
  const ask = () =>
    fetch(`http://${address}:8000/marker`).then(
      (answer) => answer.text(),
      () => "",
    );
  await eventually(ask, (text) => text === "kept\n");
  await world.daemon.kill();
  expect(await ask()).toBe("kept\n");
  const table = ["inet", `torpor_${world.daemon.instance}`];
  execFileSync("nft", ["delete", "table", ...table]);
  await world.daemon.launch();
  expect(execFileSync("nft", ["list", "table", ...table], { encoding: "utf8" })).toContain("chain");
  expect(await ask()).toBe("kept\n");
});

async function lastEvents(count: number) {
  return (await world.daemon.client.events(name)).slice(-count);
}
