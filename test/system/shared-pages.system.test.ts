import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readlinkSync, statfsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { fill } from "./harness/filler.ts";
import { eventually, output } from "./harness/inside.ts";
import { removeAll } from "./harness/remove-all.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

// The pause of a large sandbox that was resumed writes what has changed since, and shares the rest with the checkpoint that it came from.

const mib = 2 ** 20;
const heldMib = 200;

/** Holds blocks of random bytes. Asked for it, it checks all of them, then has them as it was asked: some anew, some gone, more of them. */
const keeper = `
import hashlib, os, random
random.seed(1)
held, sums, last = {}, {}, 0
def put(n):
    held[n] = bytearray(os.urandom(random.choice([4, 40, 400, 1596]) << 10)); sums[n] = hashlib.md5(held[n]).digest()
def more(mib):
    global last
    want = sum(map(len, held.values())) + (mib << 20)
    while sum(map(len, held.values())) < want: last += 1; put(last)
more(${heldMib})
os.mkfifo('/run/ask'); os.mkfifo('/run/answer')
open('/run/ready', 'w')
while True:
    asked = open('/run/ask').read().strip()
    broken = [n for n in held if hashlib.md5(held[n]).digest() != sums[n]]
    if asked == 'few':
        for n in random.sample(sorted(held), 5): held[n][random.randrange(len(held[n]))] ^= 1; sums[n] = hashlib.md5(held[n]).digest()
        for n in random.sample(sorted(held), 3): del held[n], sums[n]
        more(2)
    if asked == 'most':
        for n in sorted(held)[: len(held) * 3 // 4]: put(n)
    open('/run/answer', 'w').write(f'{len(held) > 10} {len(broken)}')
`;

const name = "keeper";
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

beforeEach(async () => {
  const { client } = daemon;
  await removeAll(client);
  await client.create({ image: "debian", name, resources: { memoryBytes: 1024 * mib } });
  await client.startSession(name, { argv: ["python3", "-c", keeper] });
  await output(client, name, "until [ -e /run/ready ]; do sleep 0.05; done");
  await pauseAndResume(name);
});

test("what is as it was is not written: five times, and all of it comes back", async () => {
  for (let round = 0; round < 5; round++) {
    await isWhole(name, "few");
    expect(await usedMibOf(() => daemon.client.pause(name))).toBeLessThan(heldMib / 4);
    await daemon.client.resume(name, { memory: "require" });
  }
  await isWhole(name);
});

test("forks that are paused share what they have of their source's memory, and outlive it", async () => {
  const { client } = daemon;
  const children = ["first", "second", "third"];
  for (const child of children) await client.fork(name, { name: child });
  for (const child of children) await isWhole(child, "few");
  const shared = await usedMibOf(async () => {
    for (const child of children) await client.pause(child);
  });
  expect(shared).toBeLessThan(heldMib / 2);
  await client.remove(name, { force: true });
  await client.remove("first", { force: true });
  await client.resume("second", { memory: "require" });
  await isWhole("second", "most");
  await pauseAndResume("second");
  await isWhole("second");
  await client.resume("third", { memory: "require" });
  await isWhole("third");
});

test("where most has changed all is written", async () => {
  await keepBase();
  await isWhole(name, "most");
  expect(await usedMibOf(() => daemon.client.pause(name))).toBeGreaterThan(heldMib / 2);
  await daemon.client.resume(name, { memory: "require" });
  await isWhole(name);
});

test("where the host has the pages of the last checkpoint no more in its memory all is written", async () => {
  execFileSync("dd", [`of=${await keepBase()}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"], { stdio: "pipe" });
  expect(await usedMibOf(() => daemon.client.pause(name))).toBeGreaterThan(heldMib / 2);
  await daemon.client.resume(name, { memory: "require" });
  await isWhole(name);
});

test("a shim that took over knows no last checkpoint: all is written", async () => {
  const { shimPid } = await hostRuntime(daemon.client, daemon.instance, name);
  await killHard(shimPid);
  await eventually(
    () => isWhole(name).then(() => true, String),
    (answer) => answer === true,
  );
  await pauseAndResume(name);
  await isWhole(name, "few");
  await pauseAndResume(name);
  await isWhole(name);
});

test("when the pool runs short the room of the last checkpoint is given back, and a pause goes through", async () => {
  const { client } = daemon;
  const { pool } = await client.info();
  const left = (pool.reserveBytes ?? 0) + 64 * mib;
  const free = fill(path.join(daemon.data, "pool"), left);
  await eventually(
    async () => usableBytes(),
    (bytes) => bytes > left + (heldMib / 2) * mib,
  );
  free();
  await pauseAndResume(name);
  await isWhole(name);
});

/** None of what it holds is other than it was; then it is changed. */
async function isWhole(sandbox: string, change = "nothing"): Promise<void> {
  expect(await output(daemon.client, sandbox, `echo ${change} > /run/ask; cat /run/answer`)).toBe("True 0");
}

async function pauseAndResume(sandbox: string): Promise<void> {
  await daemon.client.pause(sandbox);
  await daemon.client.resume(sandbox, { memory: "require" });
}

/** So much less room there is afterwards. */
async function usedMibOf(act: () => Promise<unknown>): Promise<number> {
  const before = usableBytes();
  await act();
  return (before - usableBytes()) / mib;
}

function usableBytes(): number {
  const { bavail, bsize } = statfsSync(path.join(daemon.data, "pool"));
  return bavail * bsize;
}

/** The path of the pages that the sandbox was restored from, which keep their room until the test is over. */
async function keepBase(): Promise<string> {
  const { shimPid } = await hostRuntime(daemon.client, daemon.instance, name);
  const links = readdirSync(`/proc/${shimPid}/fd`).map((fd) => `/proc/${shimPid}/fd/${fd}`);
  const base = openSync(links.find((link) => readlinkSync(link).includes("/pages.img")) ?? "", "r");
  onTestFinished(() => closeSync(base));
  return `/proc/${process.pid}/fd/${base}`;
}
