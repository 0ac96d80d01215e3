import { globSync } from "node:fs";
import path from "node:path";
import { eventually } from "../test/system/harness/inside.ts";
import { residentBytes } from "../test/system/harness/resident-bytes.ts";
import { hostRuntime } from "../test/system/harness/runtime.ts";
import { sum } from "./floor/floor.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { fillAnew, openSubject, type Subject } from "./lib/subject.ts";
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
        { name: "512 MiB dirty: pause, all of it changed since the resume", ...medians(rounds, "pauseChanged", "rawPause") },
        { name: "512 MiB dirty: the same, of the steps by hand with fsync", ...medians(rounds, "pauseChanged", "rawDurablePause") },
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
  /** Nothing of the memory is as in the checkpoint before. */
  readonly pauseChanged: number;
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
  /** Pauses in rounds of their own: by hand with the checkpoint written to the disk itself, and of a memory that is all other. */
  readonly durable: boolean;
}

async function cycle({ client, daemon, floor, sandbox, exec }: Subject, context: BenchmarkContext, cycles: Cycles): Promise<Round[]> {
  const { mib, runs, background, durable } = cycles;
  await sandbox("dirty", mib);
  // One of the two is in memory at a time: with the files of both that is what a machine of 24 GiB can hold.
  await client.pause("dirty");
  await floor.call("create", { name: "dirty", mib });
  await floor.call("pause", { name: "dirty" });
  /** A pause waits for what is not in memory yet, and that is a resume's time. */
  const loaded = async () => {
    const { enginePid } = await hostRuntime(client, daemon.instance, "dirty");
    await eventually(
      async () => residentBytes(enginePid),
      (bytes) => bytes >= mib * 2 ** 20,
    );
  };
  const rounds: Round[] = [];
  for (let run = 0; run < runs; run++) {
    context.say(`${mib} MiB: round ${run + 1} of ${runs}`);
    await floor.call("warm", { paths: await floor.call<string[]>("image", { name: "dirty" }) });
    const rawResume = await floor.call("resume", { name: "dirty", mib, background });
    const raw = await floor.call("pause", { name: "dirty" });
    if (durable) await floor.call("resume", { name: "dirty", mib, background: true });
    const synced = durable ? await floor.call("pause", { name: "dirty", fsync: true }) : undefined;
    await floor.call("warm", { paths: globSync(path.join(daemon.data, "pool/checkpoints/*/*")) });
    const { ms: resume } = await timed(async () => {
      await client.resume("dirty");
      await exec("dirty");
    });
    await loaded();
    const { ms: pause } = await timed(() => client.pause("dirty"));
    let pauseChanged = Number.NaN;
    if (durable) {
      await client.resume("dirty");
      await loaded();
      await fillAnew(client, "dirty");
      pauseChanged = (await timed(() => client.pause("dirty"))).ms;
    }
    rounds.push({
      pause,
      pauseChanged,
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
