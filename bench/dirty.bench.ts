import { sum } from "./floor/floor.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { openSubject, type Subject } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

/** A sandbox that holds random memory. Each cycle moves gigabytes: fewer of them. */
export const benchmarks: Benchmark[] = [
  {
    name: "512 MiB dirty",
    unit: "ms",
    bound: 1.3,
    async run(context) {
      const subject = await openSubject(context);
      const rounds = await cycle(subject, context, { mib: 512, runs: context.runs, background: true, durable: true });
      return [
        { name: "512 MiB dirty: pause", ...medians(rounds, "pause", "rawPause") },
        { name: "512 MiB dirty: pause, of the steps by hand with fsync", ...medians(rounds, "pause", "rawDurablePause") },
        { name: "512 MiB dirty: resume to first exec", ...medians(rounds, "resume", "rawResume") },
      ];
    },
  },
  {
    name: "4 GiB dirty",
    unit: "ms",
    bound: 0.5,
    async run(context) {
      const subject = await openSubject(context);
      const rounds = await cycle(subject, context, {
        mib: 4096,
        runs: Math.max(3, Math.ceil(context.runs / 5)),
        background: false,
        durable: false,
      });
      return [
        {
          name: "4 GiB dirty: resume to first exec, verified; of a restore without --background",
          ...medians(rounds, "resume", "rawResume"),
        },
      ];
    },
  },
];

interface Round {
  readonly pause: number;
  readonly resume: number;
  readonly rawPause: number;
  readonly rawDurablePause: number;
  readonly rawResume: number;
}

interface Cycles {
  readonly mib: number;
  readonly runs: number;
  /** By hand too the restore answers before all memory is read. */
  readonly background: boolean;
  /** By hand too the checkpoint is written to the disk itself, in rounds of their own. */
  readonly durable: boolean;
}

async function cycle(
  { client, floor, sandbox, exec }: Subject,
  context: BenchmarkContext,
  { mib, runs, background, durable }: Cycles,
): Promise<Round[]> {
  await sandbox("dirty", mib);
  await floor.call("create", { name: "dirty", mib });
  const rounds: Round[] = [];
  for (let run = 0; run < runs; run++) {
    context.say(`${mib} MiB: round ${run + 1} of ${runs}`);
    const raw = await floor.call("pause", { name: "dirty" });
    const rawResume = await floor.call("resume", { name: "dirty", mib, background });
    const synced = durable ? await floor.call("pause", { name: "dirty", fsync: true }) : undefined;
    if (durable) await floor.call("resume", { name: "dirty", mib, background: true });
    const { ms: pause } = await timed(() => client.pause("dirty"));
    const { ms: resume } = await timed(async () => {
      await client.resume("dirty");
      await exec("dirty");
    });
    rounds.push({
      pause,
      resume,
      rawPause: sum(raw, "pause", "checkpoint", "delete", "umount"),
      rawDurablePause: synced === undefined ? Number.NaN : sum(synced, "pause", "checkpoint", "fsync", "delete", "umount"),
      rawResume: sum(rawResume, "network", "mount", "restore", "exec"),
    });
  }
  return rounds;
}

function medians(rounds: readonly Round[], value: keyof Round, floor: keyof Round): Pick<NamedMeasurement, "value" | "floor"> {
  return { value: median(rounds.map((round) => round[value])), floor: median(rounds.map((round) => round[floor])) };
}
