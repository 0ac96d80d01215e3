import { expect, test } from "vitest";
import { cycleFiles } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const mib = 2 ** 20;

test("every write that was acknowledged before a pause with files only is there, and none is torn (F01)", async () => {
  const name = await startSandbox(client);
  for (const file of ["/root/first", "/root/second", "/root/third"]) {
    const writer = new Follower(await client.stream(name, { argv: ["python3", "-c", appending(file)] }));
    await writer.until(({ text }) => text.split("\n").length > 30);
    await client.pause(name, { memory: false });
    await writer.finished;
    const acknowledged = Number(writer.text.split("\n").at(-2));
    await client.resume(name);
    const text = await output(client, name, ["cat", file]);
    const lines = text.split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(acknowledged);
    expect(lines).toEqual(lines.map((_, index) => `${index + 1}`.padStart(8, "0")));
  }
});

test("2 GiB of files of a sandbox of 512 MiB are there after a pause with files only (F12)", async () => {
  const name = await startSandbox(client, { resources: { memoryBytes: 512 * mib, diskBytes: 4096 * mib } });
  const sums = await output(client, name, ["python3", "-c", `${sumsOf}\nwrite()\nprint(sums())`]);
  expect(sums.split(" ")).toHaveLength(32);
  await cycleFiles(client, name);
  expect(await output(client, name, ["python3", "-c", `${sumsOf}\nprint(sums())`])).toBe(sums);
});

/** Says each number when it is in the file and synced. */
function appending(file: string): string {
  return `
import os
f = os.open('${file}', os.O_CREAT | os.O_APPEND | os.O_WRONLY)
n = 0
while True:
    n += 1
    os.write(f, f'{n:08}\\n'.encode()); os.fsync(f)
    print(n, flush=True)
`;
}

/** 32 files of 64 MiB, each another. */
const sumsOf = `
import os, zlib
names = [f'/root/large-{n}' for n in range(32)]
def write():
    block = os.urandom(1 << 20)
    for n, name in enumerate(names):
        with open(name, 'wb') as f:
            for m in range(64):
                f.write(bytes([n, m])); f.write(block[2:])
def sum_of(name):
    total = 0
    with open(name, 'rb') as f:
        while chunk := f.read(1 << 20):
            total = zlib.crc32(chunk, total)
    return total
def sums():
    return ' '.join(f'{sum_of(name):08x}' for name in names)
`;
