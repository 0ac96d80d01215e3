import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { mib, RandomContent } from "../system/harness/content.ts";
import { cycleFiles } from "../system/harness/cycle.ts";
import { output } from "../system/harness/inside.ts";
import { sandboxName, sharedClient, snapshotName, startSandbox } from "../system/harness/shared.ts";

const client = sharedClient();

test("a file of 3 GiB goes in and out as it is (L01)", async () => {
  const name = await startSandbox(client);
  const content = new RandomContent(3072 * mib);
  const entry = await client.files.write(name, "/root/big", content[Symbol.asyncIterator]());
  expect(entry.size).toBe(3072 * mib);
  const sum = content.digest();
  expect(await output(client, name, "sha256sum < /root/big")).toBe(`${sum}  -`);
  const hash = createHash("sha256");
  for await (const chunk of (await client.files.read(name, "/root/big")).content) {
    hash.update(chunk);
  }
  expect(hash.digest("hex")).toBe(sum);
});

test("2 GiB of files in a sandbox of 512 MiB are whole after a files-only pause, and in a sandbox from a snapshot (F12)", async () => {
  const name = await startSandbox(client, { resources: { memoryBytes: 512 * mib } });
  const sums = () => output(client, name, "cd /root/many && sha256sum *");
  await output(client, name, "mkdir /root/many && cd /root/many && for i in $(seq 32); do head -c 64M /dev/urandom > $i; done");
  const before = await sums();
  await cycleFiles(client, name);
  expect(await sums()).toBe(before);
  const kept = snapshotName(client);
  await client.snapshot(name, { name: kept, memory: false });
  const child = sandboxName(client);
  await client.create({ snapshot: kept, name: child });
  expect(await output(client, child, "cd /root/many && sha256sum *")).toBe(before);
});

test("an upload of 500 MB that a pause cuts in the middle leaves nothing (L12)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir /up");
  const { promise: atHalf, resolve: half } = Promise.withResolvers<void>();
  const upload = client.files.write(name, "/up/file", halting(half));
  upload.catch(() => {});
  await atHalf;
  await client.pause(name);
  await client.resume(name, { memory: "require" });
  await expect(upload).rejects.toMatchObject({ code: "session_paused" });
  expect(await output(client, name, "ls -A /up")).toBe("");
});

async function* halting(atHalf: () => void): AsyncGenerator<Uint8Array> {
  yield* new RandomContent(250 * mib);
  atHalf();
  await new Promise(() => {});
}
