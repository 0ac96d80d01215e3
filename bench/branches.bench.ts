import { performance } from "node:perf_hooks";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createLifecycle } from "../packages/core/src/index.ts";
import { MemoryWorld } from "../packages/core/src/testing/index.ts";
import { systemClock } from "../packages/daemon/src/host/system.ts";
import { post } from "../test/system/harness/post.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { openSubject, type Subject } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

const mib = 2 ** 20;
const gib = 2 ** 30;
const familySize = 100;
const writtenBytes = 4 * mib;

/** Forks, wakes and timers. */
export const benchmarks: Benchmark[] = [
  {
    name: "branches: forks of 256 MiB",
    unit: "ms",
    bound: 6,
    async run(context) {
      const subject = await openSubject(context);
      await subject.sandbox("dirty", 256);
      return forks(subject, Math.max(3, Math.ceil(context.runs / 5)));
    },
  },
  {
    name: "branches: at rest, and woken",
    unit: "ms",
    bound: 1,
    async run(context) {
      const subject = await openSubject(context);
      await subject.sandbox("idle", 0);
      return atRest(subject, context.runs);
    },
  },
  { name: `branches: a family of ${familySize}`, unit: "MB", bound: 1.1, run: family },
  { name: "branches: 1000 pending timers, CPU of 10 s", unit: "ms", bound: 1, run: timers },
];

async function forks({ client, exec }: Subject, runs: number): Promise<NamedMeasurement[]> {
  const times: Record<"one" | "ten" | "frozenOne" | "frozenTen", number[]> = { one: [], ten: [], frozenOne: [], frozenTen: [] };
  const fork = async (count: number) => {
    const { ms, value } = await timed(async () => {
      const answer = await client.fork("dirty", { count, name: "kid" });
      const children = answer.operation.result.children as readonly { id: string; error: unknown }[];
      await Promise.all(children.map(({ id }) => exec(id)));
      return { answer, children };
    });
    for (const { id } of value.children) await client.remove(id, { force: true });
    return { ms, frozenMs: Number(value.answer.operation.result.frozenMs) };
  };
  for (let run = 0; run < runs; run++) {
    const one = await fork(1);
    const ten = await fork(10);
    times.one.push(one.ms);
    times.ten.push(ten.ms);
    times.frozenOne.push(one.frozenMs);
    times.frozenTen.push(ten.frozenMs);
  }
  return [
    { name: "fork of ten, 256 MiB dirty, of a fork of one", value: median(times.ten), floor: median(times.one) },
    { name: "fork of ten: source frozen, of a fork of one", value: median(times.frozenTen), floor: median(times.frozenOne), bound: 1.2 },
  ];
}

async function atRest({ client, exec, daemon }: Subject, runs: number): Promise<NamedMeasurement[]> {
  const hook = "#!/bin/sh\ndate +%s%N > /woken.new && mv /woken.new /woken\n";
  await client.files.write("idle", "/etc/torpor/hooks/woken.d/10-mark", Readable.from([Buffer.from(hook)]), { mode: 0o755, parents: true });
  const { path } = await client.wakes.create("idle", { url: true });
  const resumes: number[] = [];
  const copies: number[] = [];
  const hooks: number[] = [];
  for (let run = 0; run < runs; run++) {
    await client.pause("idle");
    copies.push(
      (
        await timed(async () => {
          await client.fork("idle", { name: "kid" });
          await exec("kid");
        })
      ).ms,
    );
    await client.remove("kid", { force: true });
    resumes.push(
      (
        await timed(async () => {
          await client.resume("idle");
          await exec("idle");
        })
      ).ms,
    );
    await client.exec("idle", { argv: ["rm", "-f", "/woken"] });
    await client.pause("idle");
    const called = Date.now();
    await post(daemon.socket, path ?? "");
    hooks.push((await marked(client)) - called);
  }
  const resume = median(resumes);
  return [
    { name: "fork of a paused one, of a resume + 50 ms", value: median(copies), floor: resume + 50 },
    { name: "call of a wake URL to the hook's first line, of a resume + 100 ms", value: median(hooks), floor: resume + 100 },
  ];
}

/** The instant in ms that the hook wrote down; the sandbox's clock is the host's. */
async function marked(client: Subject["client"]): Promise<number> {
  for (;;) {
    const { state } = await client.get("idle");
    if (state === "running") {
      const { end, stdout } = await client.exec("idle", { argv: ["cat", "/woken"] });
      if (end.exitCode === 0) return Number(Buffer.from(stdout, "base64").toString()) / 1e6;
    }
    await sleep(20);
  }
}

/** Of a disk of 2 GB: what all of them hold on the pool, of what the one holds and each has written. */
async function family(context: BenchmarkContext): Promise<NamedMeasurement[]> {
  const { client, exec } = await openSubject(context);
  const held = async () => {
    const { pool } = await client.info();
    return pool.sizeBytes - pool.freeBytes;
  };
  const before = await held();
  await client.create({ image: "debian", name: "base", resources: { memoryBytes: 128 * mib, diskBytes: 4 * gib } });
  await client.exec("base", { argv: ["sh", "-c", `head -c ${2e9} /dev/urandom > /root/data && sync`] });
  await client.stop("base");
  const one = (await held()) - before;
  context.say(`forking it into ${familySize}`);
  for (let made = 0; made < familySize; made += 10) {
    const { operation } = await client.fork("base", { count: 10, name: `kid-${made}`, memory: false });
    for (const { id } of operation.result.children as readonly { id: string }[]) {
      await exec(id);
      await client.exec(id, { argv: ["sh", "-c", `head -c ${writtenBytes} /dev/urandom > /root/own && sync`] });
      await client.stop(id);
    }
  }
  const all = (await held()) - before;
  return [
    {
      name: `${familySize} forks of a 2 GB disk, of one and what each wrote`,
      value: all / 1e6,
      floor: (one + familySize * writtenBytes) / 1e6,
    },
  ];
}

/** In this process, on the engine in memory: the CPU time of ten seconds with a timer for each of a thousand sandboxes, of 1 % of one CPU. */
async function timers(): Promise<NamedMeasurement[]> {
  const lifecycle = createLifecycle({ ...new MemoryWorld().ports(), clock: systemClock });
  for (let i = 0; i < 1000; i++)
    await lifecycle.create({
      image: "debian",
      name: `s${i}`,
      network: "none",
      ttlMs: 3_600_000 + i,
      hardTtlMs: 86_400_000,
      idleMs: 3_600_000,
    });
  const before = process.cpuUsage();
  const began = performance.now();
  await sleep(10_000);
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = performance.now() - began;
  await lifecycle.close();
  return [{ name: "CPU of 1000 pending timers over 10 s, of 1 % of a CPU", value: (user + system) / 1000, floor: elapsedMs / 100 }];
}
