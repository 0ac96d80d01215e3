import { copyFileSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { parseManifest, renderManifest } from "../../../packages/daemon/src/checkpoints/manifest.ts";
import { flipByte } from "../harness/flip-byte.ts";
import { hostAgrees } from "../harness/holdings.ts";
import { TestDaemon } from "../harness/test-daemon.ts";
import { goesOn, startWitness } from "../harness/witness.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe("a checkpoint that is not what it was (D01)", () => {
  test("one byte flipped at 50 places of each part is refused each time, the part named; put right, it resumes", async () => {
    const { client } = daemon;
    const name = await startSandbox();
    const witness = await startWitness(client, name);
    await client.pause(name);
    const directory = await checkpointDirectory(name);
    const parts = readdirSync(directory);
    expect(parts.sort()).toEqual(["checkpoint.img", "manifest.json", "pages.img", "pages_meta.img"]);
    for (const [part, place] of parts.flatMap((part) => Array.from({ length: 50 }, (_, place) => [part, place] as const))) {
      const flip = () => flipByte(path.join(directory, part), place / 49);
      await flip();
      await expect(client.resume(name, { memory: "require" }), `${part} at ${place}/49`).rejects.toMatchObject({
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

test("made on a CPU with a feature that this one lacks: refused once, the feature named; elsewhere its memory is still there (D09)", async () => {
  const { client } = daemon;
  const name = await startSandbox();
  const witness = await startWitness(client, name);
  await client.pause(name);
  const file = path.join(await checkpointDirectory(name), "manifest.json");
  const original = readFileSync(file, "utf8");
  const manifest = parseManifest(original);
  writeFileSync(file, renderManifest({ ...manifest, cpu: { ...manifest.cpu, features: [...manifest.cpu.features, "avx9000"] } }));
  const { generation } = await client.get(name);
  await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({
    code: "checkpoint_incompatible",
    message: expect.stringContaining("CPU lacks avx9000"),
  });
  expect(await client.get(name)).toMatchObject({ state: "paused", generation, operation: null });
  const failures = daemon
    .log()
    .split("\n")
    .filter((line) => line.includes("a restore failed") && line.includes("avx9000"));
  expect(failures).toHaveLength(1);
  await hostAgrees(daemon);
  writeFileSync(file, original);
  await client.resume(name, { memory: "require" });
  await goesOn(client, name, witness);
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
