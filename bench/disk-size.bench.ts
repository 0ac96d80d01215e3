import type { TorporClient } from "@torpor/sdk";
import type { Benchmark } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { openSubject } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

const sizesGiB = [0, 1, 20];
const names = ["pause", "resume", "fork"] as const;

/** Files on the disk cost pause, resume and fork nothing: the slowest of three sizes is compared with the fastest. */
export const benchmark: Benchmark = {
  name: "size of the disk",
  unit: "ms",
  bound: 1.25,
  async run(context) {
    const { client, sandbox } = await openSubject(context);
    for (const size of sizesGiB) {
      await sandbox(`disk${size}`, 0, 24 * 2 ** 30);
      context.say(`writing ${size} GiB`);
      await fill(client, `disk${size}`, size);
    }
    const times = new Map<string, number[]>();
    const add = (key: string, ms: number) => times.set(key, [...(times.get(key) ?? []), ms]);
    for (let run = 0; run < context.runs; run++) {
      for (const size of sizesGiB) {
        const name = `disk${size}`;
        add(`pause ${size}`, (await timed(() => client.pause(name))).ms);
        add(`resume ${size}`, (await timed(() => client.resume(name))).ms);
        add(`fork ${size}`, (await timed(() => client.fork(name, { name: `${name}-child` }))).ms);
        await client.remove(`${name}-child`, { force: true });
      }
    }
    return names.map((name) => {
      const medians = sizesGiB.map((size) => median(times.get(`${name} ${size}`) ?? []));
      return {
        name: `${name} with a file of 0, 1 and 20 GiB: slowest of fastest`,
        value: Math.max(...medians),
        floor: Math.min(...medians),
      };
    });
  },
};

/** Real bytes, all written: a sparse file would be nothing on the disk. */
async function fill(client: TorporClient, name: string, gib: number): Promise<void> {
  const program = `import os\nblock = os.urandom(1 << 20)\nwith open('/root/fill', 'wb') as f:\n    for i in range(${gib * 1024}): f.write(block)\n    os.fsync(f.fileno())\n`;
  const { end } = await client.exec(name, { argv: ["python3", "-c", program] });
  if (end.exitCode !== 0) throw new Error(`filling the disk ended with ${end.exitCode}`);
}
