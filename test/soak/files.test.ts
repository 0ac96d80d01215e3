import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { mib, RandomContent } from "../system/harness/content.ts";
import { output } from "../system/harness/inside.ts";
import { sharedClient, startSandbox } from "../system/harness/shared.ts";

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
