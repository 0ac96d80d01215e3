import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { hostAgrees } from "./harness/holdings.ts";
import { eventually, inside } from "./harness/inside.ts";
import { removeAll } from "./harness/remove-all.ts";
import { stoppedAt } from "./harness/stopped-at.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { goesOn, hasFiles, startWitness, type Witness } from "./harness/witness.ts";

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
  const filling = "import os, time\nkept = os.urandom(300 << 20)\nopen('/dev/shm/full', 'w')\ntime.sleep(9999)";
  await daemon.client.startSession(name, { argv: ["python3", "-c", filling] });
  await eventually(
    () => inside(daemon.client, name, "test -e /dev/shm/full"),
    ({ end }) => end.exitCode === 0,
    60_000,
  );
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

  test("before a create: refused with the figures, nothing is left", async () => {
    const free = fillPool(8 * mib);
    await expect(daemon.client.create({ image: "debian", name: "another" })).rejects.toMatchObject({
      code: "disk_full",
      message: expect.stringMatching(/\d+ are free/),
    });
    expect(await daemon.client.list()).toHaveLength(1);
    await livesOn();
    free();
    await daemon.client.create({ image: "debian", name: "another" });
  });

  test("in the middle of an image's import: refused, nothing of it is left", async () => {
    const tar = path.join(directory, "large.tar");
    mkdirWith(path.join(directory, "large"), 200);
    execFileSync("tar", ["-cf", tar, "-C", path.join(directory, "large"), "."]);
    const images = await daemon.client.images.list();
    const free = fillPool(100 * mib);
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
    const tracing = await injectFault(calls, path.join(daemon.data, "pool/checkpoints", partial, file));
    const error = await goOn();
    await endTracing(tracing);
    expect(error).toMatchObject({ code: "storage_failed", message: expect.stringMatching(/EIO|i\/o error/i) });
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

/** Fills the pool but for so much; gives what frees it. */
function fillPool(leftBytes: number): () => void {
  const pool = path.join(daemon.data, "pool");
  const file = path.join(pool, "filler");
  const { bavail, bsize } = statfsSync(pool);
  execFileSync("fallocate", ["--length", String(bavail * bsize - leftBytes), file]);
  const free = () => rmSync(file, { force: true });
  onTestFinished(free);
  return free;
}

async function injectFault(calls: string, file: string): Promise<ChildProcess> {
  const tracing = spawn(
    "strace",
    ["-f", "-qq", "-o", "/dev/null", "-P", file, "-e", `trace=${calls}`, "-e", `inject=${calls}:error=EIO`, "-p", String(daemon.pid)],
    {
      stdio: "ignore",
    },
  );
  await eventually(
    async () => readFileSync(`/proc/${daemon.pid}/status`, "utf8"),
    (text) => !/^TracerPid:\s+0$/m.test(text),
  );
  return tracing;
}

async function endTracing(tracing: ChildProcess): Promise<void> {
  const ended = once(tracing, "exit");
  tracing.kill("SIGINT");
  await ended;
}

function mkdirWith(target: string, sizeMib: number): void {
  execFileSync("mkdir", ["-p", target]);
  execFileSync("dd", ["if=/dev/urandom", `of=${target}/data`, "bs=1M", `count=${sizeMib}`, "status=none"]);
}
