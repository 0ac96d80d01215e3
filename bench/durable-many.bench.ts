import { setTimeout as passes } from "node:timers/promises";
import type { TorporClient } from "@torpor/sdk";
import { importBare } from "../test/system/harness/bare-image.ts";
import { mib } from "../test/system/harness/content.ts";
import { readHostState } from "../test/system/harness/host-state.ts";
import { eventually } from "../test/system/harness/inside.ts";
import { residentBytes } from "../test/system/harness/resident-bytes.ts";
import { TestDaemon } from "../test/system/harness/test-daemon.ts";
import { Times } from "../test/system/harness/times.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { holdMemory } from "./lib/subject.ts";

const count = 200;
/** So many are made at a time. */
const atOnce = 4;
/** So many run, or are in the middle of a pause, when the daemon is killed. */
const cutOff = 20;
const answerMs = 50;
const startMs = 5000;
/** The daemon looks each five seconds whether it rests. */
const restMs = 15_000;

/** One node with many sandboxes that are paused, one of which is large. */
export const benchmark: Benchmark = {
  name: `durable: ${count} paused sandboxes`,
  unit: "ms",
  bound: 1,
  async run(context) {
    const daemon = await TestDaemon.start();
    context.onEnd(() => daemon[Symbol.asyncDispose]());
    await importBare(daemon.client);
    context.say(`making ${count} paused sandboxes`);
    await makePaused(daemon.client);
    return [
      ...(await held(context, daemon)),
      { name: `list of ${count}, p99`, value: await slowestLists(daemon.client), floor: answerMs },
      ...(await duringCheckpoint(context, daemon.client)),
      ...(await recoveries(context, daemon)),
    ];
  },
};

async function makePaused(client: TorporClient): Promise<void> {
  const names = Array.from({ length: count }, (_, i) => `paused-${i}`);
  const worker = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      await client.create({ image: "bare", name, resources: { memoryBytes: 64 * mib } });
      await client.pause(name);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** At once, and after the daemon has had the time to give back what making them took. */
async function held(context: BenchmarkContext, daemon: TestDaemon): Promise<NamedMeasurement[]> {
  const busy = heldBytes(daemon);
  await passes(restMs);
  const atRest = heldBytes(daemon);
  context.say(`held at once: ${Math.round(busy / 1e6)} MB, at rest: ${Math.round(atRest / 1e6)} MB`);
  return [
    { name: `memory of all processes with ${count} paused, at once`, unit: "MB", value: busy / 1e6, floor: 200 },
    { name: `memory of all processes with ${count} paused, at rest`, unit: "MB", value: atRest / 1e6, floor: 200 },
  ];
}

/** Of the daemon, and of whatever else runs for it. */
function heldBytes({ data, instance }: TestDaemon): number {
  const pids = readHostState([data, instance]).processes.map((line) => Number.parseInt(line, 10));
  return pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
}

async function slowestLists(client: TorporClient): Promise<number> {
  const times = new Times();
  for (let i = 0; i < 200; i++) await times.measure(() => client.list());
  return times.at(0.99);
}

/** As two clients would that ask twenty times a second each, whether or not the answer before has come: an answer that is late delays no question. */
async function duringCheckpoint(context: BenchmarkContext, client: TorporClient): Promise<NamedMeasurement[]> {
  await client.create({ image: "debian", name: "large", resources: { memoryBytes: 2560 * mib } });
  await holdMemory(client, "large", 2048);
  // The memory that holds the checkpoint's file is new to a virtual machine once: its host hands it over page by page, and stops all of the machine for that.
  await client.pause("large");
  await client.resume("large");
  const times = { get: new Times(), list: new Times() };
  for (let round = 0; round < 3; round++) {
    let over = false;
    const began = performance.now();
    const pausing = client.pause("large").finally(() => {
      over = true;
    });
    const asked: Promise<unknown>[] = [];
    while (!over) {
      asked.push(times.get.measure(() => client.get("large")));
      await passes(25);
      asked.push(times.list.measure(() => client.list()));
      await passes(25);
    }
    await Promise.all([pausing, ...asked]);
    context.say(`a pause of 2 GiB took ${Math.round(performance.now() - began)} ms; get: ${times.get}; list: ${times.list}`);
    await client.resume("large");
  }
  return Object.entries(times).map(([name, measured]) => ({
    name: `${name} during a checkpoint of 2 GiB, p99`,
    value: measured.at(0.99),
    floor: answerMs,
  }));
}

/** From SIGKILL to the first answer: of paused ones alone, with some that run, and with operations that were cut off in the middle. */
async function recoveries(context: BenchmarkContext, daemon: TestDaemon): Promise<NamedMeasurement[]> {
  const idle: number[] = [];
  for (let i = 0; i < 3; i++) idle.push(await restart(daemon));
  context.say(`starts with ${count} paused: ${idle.map(Math.round)} ms`);
  const some = Array.from({ length: cutOff }, (_, i) => `paused-${i}`);
  for (const name of some) await daemon.client.resume(name);
  const running = await restart(daemon);
  const pausing = Promise.allSettled(some.map((name) => daemon.client.pause(name)));
  await eventually(
    async () => (await daemon.client.list()).filter(({ state }) => state === "pausing").length,
    (begun) => begun === cutOff,
  );
  const undone = await restart(daemon);
  await pausing;
  return [
    { name: `start after a kill, ${count} paused`, value: median(idle), floor: startMs },
    { name: `start after a kill, ${count - cutOff} paused and ${cutOff} running`, value: running, floor: startMs },
    { name: `start after a kill, ${count - cutOff} paused and ${cutOff} in the middle of a pause`, value: undone, floor: startMs },
  ];
}

async function restart(daemon: TestDaemon): Promise<number> {
  await daemon.kill();
  const began = performance.now();
  await daemon.launch();
  return performance.now() - began;
}
