import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { TestDaemon } from "./harness/test-daemon.ts";
import { goesOn, startWitness } from "./harness/witness.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe("a checkpoint that is not what it was (D01)", () => {
  test("one byte flipped at 50 places of its parts is refused each time, the part named; put right, it resumes", {
    timeout: 180_000,
  }, async () => {
    const { client } = daemon;
    const name = await startSandbox();
    const witness = await startWitness(client, name);
    await client.pause(name);
    const directory = await checkpointDirectory(name);
    const parts = readdirSync(directory);
    expect(parts.sort()).toEqual(["checkpoint.img", "manifest.json", "pages.img", "pages_meta.img"]);
    for (let place = 0; place < 50; place++) {
      const part = parts[place % parts.length] as string;
      const flip = () => flipByte(path.join(directory, part), place / 50);
      await flip();
      await expect(client.resume(name, { memory: "require" }), `${part} at ${place}/50`).rejects.toMatchObject({
        code: "checkpoint_corrupt",
        message: expect.stringContaining(part),
        details: { part },
      });
      expect(await client.get(name)).toMatchObject({ state: "paused", operation: null });
      await flip();
    }
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, witness);
  });

  test("parts swapped, one cut short, one missing, no manifest: refused, and resumed when put right", async () => {
    const { client } = daemon;
    const name = await startSandbox();
    const witness = await startWitness(client, name);
    await client.pause(name);
    const directory = await checkpointDirectory(name);
    const at = (part: string) => path.join(directory, part);
    const swap = async () => {
      await rename(at("pages.img"), at("x"));
      await rename(at("checkpoint.img"), at("pages.img"));
      await rename(at("x"), at("checkpoint.img"));
    };
    const hide = (part: string) => ({
      harm: () => rename(at(part), `${directory}.hidden`),
      repair: () => rename(`${directory}.hidden`, at(part)),
    });
    const saved = path.join(directory, "..", ".saved");
    const cut = {
      harm: async () => {
        copyFileSync(at("pages.img"), saved);
        await using file = await open(at("pages.img"), "r+");
        await file.truncate(statSync(saved).size - 1024);
      },
      repair: async () => renameSync(saved, at("pages.img")),
    };
    for (const [part, { harm, repair }] of [
      ["checkpoint.img", { harm: swap, repair: swap }],
      ["pages.img", cut],
      ["pages_meta.img", hide("pages_meta.img")],
      ["manifest", hide("manifest.json")],
    ] as const) {
      await harm();
      await expect(client.resume(name, { memory: "require" }), part).rejects.toMatchObject({
        code: "checkpoint_corrupt",
        message: expect.stringContaining(part),
      });
      expect(await client.get(name)).toMatchObject({ state: "paused" });
      await repair();
    }
    await client.resume(name, { memory: "require" });
    await goesOn(client, name, witness);
  });

  test("another sandbox's checkpoint in its place is refused by name", async () => {
    const { client } = daemon;
    const [mine, theirs] = [await startSandbox(), await startSandbox()];
    const witness = await startWitness(client, mine);
    await client.pause(mine);
    await client.pause(theirs);
    const [own, other] = [await checkpointDirectory(mine), await checkpointDirectory(theirs)];
    const swap = async () => {
      await rename(own, `${own}.own`);
      await rename(other, own);
      await rename(`${own}.own`, other);
    };
    await swap();
    await expect(client.resume(mine, { memory: "require" })).rejects.toMatchObject({
      code: "checkpoint_incompatible",
      message: expect.stringContaining("another sandbox"),
    });
    await swap();
    await client.resume(mine, { memory: "require" });
    await goesOn(client, mine, witness);
  });
});

test("the engine binary is replaced by another build: the one that a checkpoint needs is kept, and its want is named", {
  timeout: 180_000,
}, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-engine-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const runsc = path.join(directory, "runsc");
  const { engine } = await daemon.client.info();
  copyFileSync(engine.path, runsc);
  chmodSync(runsc, 0o755);
  const env: Record<string, string> = { TORPOR_RUNSC: runsc };
  await using upgraded = await TestDaemon.start({ env });
  const client = () => upgraded.client;
  await client().create({ image: "debian", name: "kept" });
  const witness = await startWitness(client(), "kept");
  await client().pause("kept");
  appendFileSync(runsc, "\n");
  await upgraded.terminate();
  await upgraded.launch();
  expect((await client().info()).engine.sha256).not.toBe(engine.sha256);
  await client().resume("kept", { memory: "require" });
  await goesOn(client(), "kept", witness);
  await client().pause("kept");
  const kept = path.join(upgraded.data, "engines/runsc", engine.sha256);
  await rename(kept, `${kept}.away`);
  await expect(client().resume("kept", { memory: "require" })).rejects.toMatchObject({
    code: "checkpoint_incompatible",
    message: expect.stringContaining(engine.sha256),
  });
  expect(await client().get("kept")).toMatchObject({ state: "paused" });
  await rename(`${kept}.away`, kept);
  await client().resume("kept", { memory: "require" });
  await goesOn(client(), "kept", witness);
});

let count = 0;
async function startSandbox(): Promise<string> {
  const name = `damaged-${count++}`;
  await daemon.client.create({ image: "debian", name });
  onTestFinished(async () => void (await daemon.client.remove(name, { force: true }).catch(() => {})));
  return name;
}

async function checkpointDirectory(name: string): Promise<string> {
  const { checkpoint } = await daemon.client.get(name);
  return path.join(daemon.data, "pool/checkpoints", checkpoint?.id ?? "");
}

/** At a share of the file's length; done twice it is as before. */
async function flipByte(file: string, share: number): Promise<void> {
  await using handle = await open(file, "r+");
  const at = Math.floor((await handle.stat()).size * share);
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at);
}
