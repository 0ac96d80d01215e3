import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { fill } from "../harness/filler.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { eventually } from "../harness/inside.ts";
import { fillMemory } from "../harness/large-memory.ts";
import { Registry } from "../harness/registry.ts";
import { removeAll } from "../harness/remove-all.ts";
import { hostRuntime } from "../harness/runtime.ts";
import { stoppedAt } from "../harness/stopped-at.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { layoutFromTar } from "../harness/test-layout.ts";
import { goesOn, hasFiles, startWitness, type Witness } from "../harness/witness.ts";

const mib = 2 ** 20;
const directory = mkdtempSync(path.join(tmpdir(), "torpor-storage-"));
const armed = path.join(directory, "armed");
const name = "base";
let daemon: TestDaemon;
let witness: Witness;

beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--pool-size", String(3 * 1024 * mib)], env: { TORPOR_FAILPOINT: armed } });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await daemon[Symbol.asyncDispose]();
});
/** With 300 MiB in memory that can't be made smaller. */
beforeEach(async () => {
  rmSync(armed, { force: true });
  await daemon.client.create({ image: "debian", name });
  onTestFinished(async () => {
    await removeAll(daemon.client);
  });
  witness = await startWitness(daemon.client, name);
  await fillMemory(daemon.client, name, 300);
});

describe("the pool is full (D04)", () => {
  test("before a pause: refused with the figures, the sandbox goes on, and it is paused when there is room", async () => {
    const free = fillPool(100 * mib);
    await expect(daemon.client.pause(name)).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringMatching(/needs \d+ bytes of the pool, and \d+ are free/),
      details: { freeBytes: expect.any(Number), neededBytes: expect.any(Number) },
    });
    await livesOn();
    free();
    await pausesAndResumes();
  });

  test("in the middle of a pause: the sandbox goes on, the partial files are gone", async () => {
    const { goOn } = await stoppedAt(daemon, armed, "pause.capture", () => daemon.client.pause(name));
    const free = fillPool(50 * mib);
    expect(await goOn()).toMatchObject({ code: "disk_full" });
    await livesOn();
    free();
    await pausesAndResumes();
  });

  test("before a fork: refused with the figures, no child, the source goes on", async () => {
    const free = fillPool(100 * mib);
    await expect(daemon.client.fork(name, { count: 2 })).rejects.toMatchObject({
      code: "disk_full",
      details: { neededBytes: expect.any(Number) },
    });
    expect(await daemon.client.list()).toHaveLength(1);
    await livesOn();
    free();
    await daemon.client.fork(name, { name: "child" });
    await goesOn(daemon.client, "child", witness);
  });

  test("in the middle of a fork: it fails with the cause, no child, nothing is left, the source goes on", async () => {
    const { goOn } = await stoppedAt(daemon, armed, "fork.capture", () => daemon.client.fork(name, { count: 2, name: "child" }));
    const free = fillPool(50 * mib);
    expect(await goOn()).toMatchObject({ code: "disk_full" });
    expect(await daemon.client.list()).toHaveLength(1);
    await livesOn();
    free();
    await daemon.client.fork(name, { name: "child" });
    await goesOn(daemon.client, "child", witness);
  });

  test("before a create: refused with the figures, nothing is left", async () => {
    const free = fillPool(100 * mib);
    await expect(daemon.client.create({ image: "debian", name: "another" })).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringMatching(/\d+ are free/),
    });
    expect(await daemon.client.list()).toHaveLength(1);
    await livesOn();
    free();
    await daemon.client.create({ image: "debian", name: "another" });
  });

  test("in the middle of a create: it fails with the cause, nothing is left", async () => {
    const asked = () => daemon.client.create({ image: "debian", name: "another" });
    const { goOn } = await stoppedAt(daemon, armed, "create.disk", asked);
    const free = fillPool(100 * mib);
    expect(await goOn()).toMatchObject({ code: "disk_full" });
    expect(await daemon.client.list()).toHaveLength(1);
    await livesOn();
    free();
    await asked();
  });

  test("in the middle of an image's pull: it fails with the cause, nothing of it is left", async () => {
    await using registry = await Registry.open();
    const tar = largeTar();
    await layoutFromTar(path.join(directory, "layout"), tar, {});
    registry.push(path.join(directory, "layout"), "large:1");
    const image = `${registry.host}/large:1`;
    const images = await daemon.client.images.list();
    const free = fillPool(60 * mib);
    await expect(daemon.client.create({ image, name: "another" })).rejects.toMatchObject({ code: "disk_full" });
    expect(await daemon.client.images.list()).toEqual(images);
    expect(await daemon.client.list()).toHaveLength(1);
    expect(readdirSync(path.join(daemon.data, "pool/tmp"))).toEqual([]);
    await livesOn();
    free();
    await daemon.client.images.pull({ reference: image });
    await daemon.client.images.remove(image);
  });

  test("in the middle of an image's import: refused, nothing of it is left", async () => {
    const tar = largeTar();
    const images = await daemon.client.images.list();
    const free = fillPool(60 * mib);
    await expect(daemon.client.images.import({ path: tar, reference: "large" })).rejects.toMatchObject({ code: "disk_full" });
    expect(await daemon.client.images.list()).toEqual(images);
    expect(readdirSync(path.join(daemon.data, "pool/tmp"))).toEqual([]);
    await livesOn();
    free();
    await daemon.client.images.import({ path: tar, reference: "large" });
    await daemon.client.images.remove("large");
  });
});

describe("the checkpoint's disk has a fault", () => {
  test.each([
    ["fsync", "pages.img"],
    ["fsync", "checkpoint.img"],
    ["write,pwrite64", "manifest.json"],
  ])("%s of %s fails: the pause fails, the sandbox goes on, and the next pause goes through", async (calls, file) => {
    const { goOn } = await stoppedAt(daemon, armed, "pause.seal", () => daemon.client.pause(name));
    const [partial = ""] = readdirSync(path.join(daemon.data, "pool/checkpoints"));
    const tracing = await injectFault(daemon.pid, calls, path.join(daemon.data, "pool/checkpoints", partial, file));
    const error = await goOn();
    await endTracing(tracing);
    expect(error).toMatchObject({ code: "storage_failed", message: expect.stringMatching(/EIO|i\/o error/i) });
    await livesOn();
    await pausesAndResumes();
  });
});

describe("the files can't be brought to the disk, the memory can", () => {
  test.each(["pause", "fork"] as const)(
    "a %s fails as a whole: nothing of it can be resumed or counts as kept, the sandbox goes on, and the next one goes through (D06)",
    async (kind) => {
      const { shimPid } = await hostRuntime(daemon.client, daemon.instance, name);
      const tracing = await injectFault(shimPid, "syncfs");
      const error = await daemon.client[kind](name).catch((reason: unknown) => reason);
      await endTracing(tracing);
      expect(error).toMatchObject({ code: "engine_failed", message: expect.stringContaining("input/output error") });
      expect((await daemon.client.operations(name))[0]).toMatchObject({ kind, status: "failed" });
      expect((await daemon.client.events(name)).map(({ type }) => type)).toEqual(["sandbox.created", `${kind}.failed`]);
      expect(await daemon.client.list()).toHaveLength(1);
      await livesOn();
      await pausesAndResumes();
    },
  );
});

describe("the store's disk has a fault", () => {
  test("a flush of the SQLite file fails in a pause: the call fails, and what was begun is taken up again when it works", async () => {
    const tracing = await injectFault(daemon.pid, "fsync,fdatasync", path.join(daemon.data, "torpor.db-wal"));
    const error = await daemon.client.pause(name).catch((reason: unknown) => reason);
    await endTracing(tracing);
    expect(error).toMatchObject({ code: "storage_failed" });
    const { state } = await eventually(
      () => daemon.client.get(name),
      ({ operation }) => operation === null,
    );
    if (state === "paused") await daemon.client.resume(name, { memory: "require" });
    await livesOn();
    await pausesAndResumes();
  });
});

async function livesOn(): Promise<void> {
  expect(await daemon.client.get(name)).toMatchObject({ state: "running", operation: null, checkpoint: null });
  await goesOn(daemon.client, name, witness);
  await hasFiles(daemon.client, name);
  await hostAgrees(daemon);
}

async function pausesAndResumes(): Promise<void> {
  await daemon.client.pause(name);
  await daemon.client.resume(name, { memory: "require" });
  await goesOn(daemon.client, name, witness);
}

/** Below the pool's reserve, and above the last of it, where every sandbox is held. */
function fillPool(leftBytes: number): () => void {
  return fill(path.join(daemon.data, "pool"), leftBytes);
}

/** The process's calls fail, those on the file alone if one is given. */
async function injectFault(pid: number, calls: string, file?: string): Promise<ChildProcess> {
  const where = file === undefined ? [] : ["-P", file];
  const args = ["-f", "-qq", "-o", "/dev/null", ...where, "-e", `trace=${calls}`, "-e", `inject=${calls}:error=EIO`, "-p", String(pid)];
  const tracing = spawn("strace", args, { stdio: "ignore" });
  // Each of its threads: which of them makes the call is not known.
  await eventually(
    async () => globSync(`/proc/${pid}/task/*/status`).map(readIfThere),
    (threads) => threads.every((text) => !/^TracerPid:\s+0$/m.test(text)),
  );
  return tracing;
}

/** A thread may end while it is looked at. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

async function endTracing(tracing: ChildProcess): Promise<void> {
  const ended = once(tracing, "exit");
  tracing.kill("SIGINT");
  await ended;
}

/** Of a root file system with 120 MiB that can't be made smaller. */
function largeTar(): string {
  const tar = path.join(directory, "large.tar");
  const root = path.join(directory, "large");
  if (!existsSync(tar)) {
    mkdirSync(root);
    execFileSync("dd", ["if=/dev/urandom", `of=${root}/data`, "bs=1M", "count=120", "status=none"]);
    execFileSync("tar", ["-cf", tar, "-C", root, "."]);
  }
  return tar;
}
