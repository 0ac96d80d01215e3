import { open, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";
import { beforeEach, describe, expect, test } from "vitest";
import { flipByte } from "./harness/flip-byte.ts";
import { inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client: TorporClient = sharedClient();
let name: string;

describe("a checkpoint that can't be restored (P04, D01)", () => {
  beforeEach(async () => {
    name = await startSandbox(client);
    await output(client, name, "echo k > /root/keep; echo m > /dev/shm/memory");
    await client.pause(name);
  });

  test.each(["checkpoint.img", "pages.img", "pages_meta.img"])(
    "a flipped byte in %s is refused by its name, and the sandbox stays paused",
    async (part) => {
      const file = await partFile(part);
      await flipByte(file);
      await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({
        code: "checkpoint_corrupt",
        message: expect.stringContaining(part),
        details: { part },
      });
      expect(await client.get(name)).toMatchObject({ state: "paused", failure: { code: "checkpoint_corrupt" } });
      await flipByte(file);
      await client.resume(name, { memory: "require" });
      expect(await output(client, name, "cat /dev/shm/memory")).toBe("m");
    },
  );

  test("a part that was cut short is refused too", async () => {
    const file = await partFile("pages.img");
    await truncate(file, (await sizeOf(file)) - 1024);
    await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({
      code: "checkpoint_corrupt",
      details: { part: "pages.img" },
    });
    expect((await client.get(name)).state).toBe("paused");
  });

  test("by default it comes back with its files, and says so", async () => {
    await flipByte(await partFile("pages.img"));
    const { operation } = await client.resume(name);
    expect(operation.result).toMatchObject({ restored: "files", reason: expect.stringContaining("pages.img") });
    expect(await output(client, name, "cat /root/keep")).toBe("k");
    expect((await inside(client, name, "cat /dev/shm/memory")).end.exitCode).toBe(1);
    expect(await client.get(name)).toMatchObject({ state: "running", restored: "files" });
    const lost = (await client.events(name)).find((event) => event.type === "memory_lost");
    expect(lost?.data).toEqual({ reason: operation.result.reason });
  });

  test("a manifest that can't be read is named", async () => {
    await writeFile(await partFile("manifest.json"), "{");
    await expect(client.resume(name, { memory: "require" })).rejects.toMatchObject({
      code: "checkpoint_corrupt",
      details: { part: "manifest.json" },
    });
    expect((await client.get(name)).state).toBe("paused");
  });
});

async function partFile(part: string): Promise<string> {
  const { checkpoint } = await client.get(name);
  return path.join((await client.info()).pool.path, "checkpoints", checkpoint?.id ?? "", part);
}

async function sizeOf(file: string): Promise<number> {
  await using handle = await open(file, "r");
  return (await handle.stat()).size;
}
