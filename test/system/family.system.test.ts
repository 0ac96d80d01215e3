import { readdir, statfs } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFailed, test } from "vitest";
import { eventually } from "./harness/inside.ts";
import { removeAll } from "./harness/remove-all.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { goesOn, startWitness, type Witness } from "./harness/witness.ts";

/** So many are made; as many are removed. */
const size = 30;

test("a family of 30 sandboxes, forks and snapshots, made and removed in random order, breaks no relative, keeps its image, and leaves the pool as empty as before", async () => {
  const seed = Number(process.env.TORPOR_SEED ?? Date.now() % 2 ** 31);
  onTestFailed(() => console.error(`TORPOR_SEED=${seed}`));
  await using daemon = await TestDaemon.start();
  const { client } = daemon;
  // The template of the size is made by the first disk of it, and stays.
  await client.create({ image: "debian", name: "warm" });
  await client.snapshot("warm", { name: "only", memory: false });
  await client.remove("warm", { force: true });
  // An image that only a snapshot needs stays.
  await expect(client.images.remove("debian")).rejects.toMatchObject({ code: "image_in_use" });
  expect((await client.images.prune()).removed).toEqual([]);
  await removeAll(client);
  const before = await held(daemon);

  await client.create({ image: "debian", name: "first" });
  const family = new Family(daemon, seed, await startWitness(client, "first"));
  for (let made = 1; made < size; made++) {
    await family.grow(`member-${made}`);
    if (family.count > 3 && family.chance() < 0.3) await family.shrink();
  }
  while (family.count > 0) await family.shrink();
  await eventually(
    () => held(daemon),
    (now) => now.files === before.files && now.usedBytes - before.usedBytes < 1024 * 1024,
  );
});

/** All descend from one, so each has its process, which counts. */
class Family {
  readonly #daemon: TestDaemon;
  readonly #witness: Witness;
  #sandboxes = ["first"];
  #snapshots: string[] = [];
  #state: number;

  constructor(daemon: TestDaemon, seed: number, witness: Witness) {
    this.#daemon = daemon;
    this.#state = seed;
    this.#witness = witness;
  }

  get count(): number {
    return this.#sandboxes.length + this.#snapshots.length;
  }

  /** mulberry32 */
  chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  }

  async grow(name: string): Promise<void> {
    const { client } = this.#daemon;
    const sandbox = this.#one(this.#sandboxes);
    const snapshot = this.#one(this.#snapshots);
    const kind = this.chance();
    if (sandbox !== undefined && (kind < 0.5 || snapshot === undefined)) {
      await client.snapshot(sandbox, { name });
      this.#snapshots.push(name);
      return;
    }
    if (sandbox !== undefined && kind < 0.7) await client.fork(sandbox, { name });
    else if (snapshot !== undefined) await client.create({ snapshot, name });
    await goesOn(client, name, this.#witness);
    if (this.chance() < 0.3) await client.pause(name);
    this.#sandboxes.push(name);
  }

  async shrink(): Promise<void> {
    const { client } = this.#daemon;
    const gone = this.#one([...this.#sandboxes, ...this.#snapshots]) ?? "";
    const isSnapshot = this.#snapshots.includes(gone);
    await (isSnapshot ? client.snapshots.remove(gone) : client.remove(gone, { force: true }));
    this.#sandboxes = this.#sandboxes.filter((name) => name !== gone);
    this.#snapshots = this.#snapshots.filter((name) => name !== gone);
    const left = this.#one(this.#sandboxes);
    if (left === undefined) return;
    if ((await client.get(left)).state === "paused") await client.resume(left, { memory: "require" });
    await goesOn(client, left, this.#witness);
  }

  #one(among: readonly string[]): string | undefined {
    return among[Math.floor(this.chance() * among.length)];
  }
}

async function held({ data }: TestDaemon): Promise<{ files: number; usedBytes: number }> {
  const pool = path.join(data, "pool");
  const files = await Promise.all(["disks", "checkpoints", "tmp"].map((name) => readdir(path.join(pool, name))));
  const { blocks, bfree, bsize } = await statfs(pool);
  return { files: files.flat().length, usedBytes: (blocks - bfree) * bsize };
}
