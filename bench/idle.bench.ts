import { execFileSync } from "node:child_process";
import { createReadStream, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GuestLine } from "../packages/daemon/src/guest/guest-line.ts";
import { type Steps, sum } from "./floor/floor.ts";
import type { Benchmark, BenchmarkContext, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { openSubject, type Subject } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

const execBlocks = 8;
/** So many calls have the client's code compiled, as it is in a daemon after its first minutes. */
const warmUps = 150;

/** The lifecycle of a Python sandbox that does next to nothing. */
export const benchmark: Benchmark = {
  name: "idle sandbox",
  unit: "ms",
  bound: 1.3,
  async run(context) {
    const subject = await openSubject(context);
    const { floor } = subject;
    await subject.sandbox("idle", 0);
    await subject.client.create({ image: "debian", name: "still" });
    await subject.client.startSession("still", { argv: ["python3", "-c", "import time\nwhile True: time.sleep(0.05)"] });
    await floor.call("create", { name: "idle" });
    await bringSpawnTimes(context, subject.client);
    const memory = { value: await ourMemory(subject), floor: await floor.call<number>("memory", { name: "idle" }) };
    await subject.client.snapshot("idle", { name: "warm" });
    const rounds = new Rounds();
    for (let run = 0; run < context.runs; run++) {
      context.say(`round ${run + 1} of ${context.runs}`);
      await measureRound(subject, rounds, run);
    }
    const exec = await measureExec(subject);
    return [
      ...rounds.results(),
      ...exec,
      {
        name: "memory of a running idle sandbox, PSS (all processes; floor sentry + gofer + 15)",
        unit: "MB",
        value: memory.value / 1e6,
        floor: memory.floor / 1e6 + 15,
        bound: 1,
      },
    ];
  },
};

class Rounds {
  readonly values: Record<string, number[]> = {};
  readonly floors: Record<string, number[]> = {};

  add(name: string, value: number, floor: number): void {
    this.values[name] = [...(this.values[name] ?? []), value];
    this.floors[name] = [...(this.floors[name] ?? []), floor];
  }

  results(): NamedMeasurement[] {
    const bounds: Record<string, number> = {
      resume: 1.25,
      "create from a memory snapshot": 1.25,
      "fork, source frozen": 1.2,
      "checkpoint stored": 1,
    };
    return Object.entries(this.values).map(([name, values]) => ({
      name,
      value: median(values),
      floor: median(this.floors[name] ?? []),
      bound: bounds[name] ?? 1.3,
      ...(name === "checkpoint stored" ? { unit: "MB" } : {}),
    }));
  }
}

async function measureRound({ client, floor, exec }: Subject, rounds: Rounds, run: number): Promise<void> {
  const raw = await floor.call("pause", { name: "idle" });
  const { ms: pause } = await timed(() => client.pause("idle"));
  rounds.add("pause", pause, sum(raw, "pause", "checkpoint", "delete", "umount"));
  const { operation } = await client.pause("still");
  rounds.add("checkpoint stored", Number(operation?.result.checkpointBytes) / 1e6, 6);
  await client.resume("still");

  const rawResume = await floor.call("resume", { name: "idle" });
  const { ms: resume } = await timed(async () => {
    await client.resume("idle");
    await exec("idle");
  });
  rounds.add("resume", resume, sum(rawResume, "network", "mount", "restore", "exec"));

  const child = `child${run}`;
  const rawFork = await floor.call("fork", { name: "idle", child });
  const { ms: fork, value: forked } = await timed(async () => {
    const answer = await client.fork("idle", { name: child });
    await exec(child);
    return answer;
  });
  rounds.add("fork of one", fork, total(rawFork));
  rounds.add("fork, source frozen", Number(forked.operation?.result.frozenMs), sum(rawFork, "pause", "checkpoint", "thaw"));
  await floor.call("remove", { name: child });
  await client.remove(child, { force: true });

  const kept = `kept${run}`;
  const { ms: fromSnapshot } = await timed(async () => {
    await client.create({ snapshot: "warm", name: kept });
    await exec(kept);
  });
  rounds.add("create from a memory snapshot", fromSnapshot, sum(rawFork, "reflink", "mount", "network", "restore", "exec"));
  await client.remove(kept, { force: true });

  const fresh = `fresh${run}`;
  const rawCreate = await floor.call("create", { name: fresh });
  const { ms: create } = await timed(async () => {
    await client.create({ image: "debian", name: fresh });
    await exec(fresh);
  });
  rounds.add("create", create, total(rawCreate));
  await floor.call("remove", { name: fresh });
  await client.remove(fresh, { force: true });
}

/** Over the open channel to the guest, as the daemon has it, and through the API in front of it. */
async function measureExec({ client, floor, exec, daemon }: Subject): Promise<NamedMeasurement[]> {
  // In blocks of ten, as commands come in a session: one alone finds caches and processors cold, ours as well as theirs.
  const ten = async (times: number[], one: (i: number) => Promise<number>) => {
    for (let i = 0; i < 10; i++) times.push(await one(i));
  };
  const raw = async () => sum(await floor.call("exec", { name: "idle" }), "exec");
  const api: number[] = [];
  const rawBesideApi: number[] = [];
  for (let block = 0; block < execBlocks; block++) {
    await ten(api, async () => (await timed(() => exec("idle"))).ms);
    await ten(rawBesideApi, raw);
  }
  const { runtimeId } = await client.get("idle");
  // The guest has one line at a time: the daemon opens another when it needs it. So nobody asks the daemon until all is measured.
  const line = await openLine(daemon, runtimeId ?? "");
  for (let i = 0; i < warmUps; i++) await execOver(line, `warm-${i}`);
  const channel: number[] = [];
  const inside: number[] = [];
  const rawBesideChannel: number[] = [];
  for (let block = 0; block < execBlocks; block++) {
    await ten(rawBesideChannel, raw);
    inside.push(...(await spawnsInside(line, `inside-${block}`)));
    await ten(channel, async (i) => (await timed(() => execOver(line, `bench-${block}-${i}`))).ms);
  }
  line.close("stopped");
  return [
    { name: "exec true over the open channel, of runsc exec true", value: median(channel), floor: median(rawBesideChannel), bound: 0.6 },
    { name: "exec true over the open channel, of the same spawn inside", value: median(channel), floor: median(inside), bound: 1.4 },
    { name: "exec true through the API, of runsc exec true", value: median(api), floor: median(rawBesideApi), bound: 1 },
  ];
}

async function openLine(daemon: Subject["daemon"], runtimeId: string): Promise<GuestLine> {
  const line = new GuestLine(`/run/torpor/${daemon.instance}/${runtimeId}/guest.sock`, () => Promise.reject(new Error("it asks nothing")));
  await line.hello({
    sandboxId: "sb_bench",
    name: "idle",
    hostname: "idle",
    generation: 1,
    origin: "reconnected",
    env: { PATH: "/usr/bin:/bin" },
    workdir: "/",
    user: "root",
    parentId: null,
    fork: null,
    selfControl: false,
    memoryBytes: 512 * 2 ** 20,
    pids: 4096,
    address: null,
    resolver: null,
  });
  return line;
}

/** The command's output. */
async function execOver(line: GuestLine, sessionId: string, argv: string[] = ["/bin/true"]): Promise<string> {
  let output = "";
  for await (const frame of line.sessions.run({ sessionId, argv, hold: true })) {
    if (frame.type === "output") output += Buffer.from(frame.data).toString();
    if (frame.type === "end" && frame.end.exitCode !== 0) throw new Error(`${argv[0]} ended with ${frame.end.exitCode}: ${output}`);
  }
  return output;
}

/** Times of ten starts of the same program by the same code as the guest's, with nobody outside waiting, in ms: no exec can be faster. */
async function spawnsInside(line: GuestLine, sessionId: string): Promise<number[]> {
  return (await execOver(line, sessionId, ["/spawn-times", "10"])).trim().split("\n").map(Number);
}

/** Built for the occasion: it is no part of what is shipped. */
async function bringSpawnTimes(context: BenchmarkContext, client: Subject["client"]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "torpor-spawn-"));
  context.onEnd(() => rmSync(directory, { recursive: true }));
  const program = join(directory, "spawn-times");
  execFileSync("go", ["build", "-o", program, "./cmd/spawn-times"], {
    cwd: fileURLToPath(new URL("../native", import.meta.url)),
    env: { ...process.env, CGO_ENABLED: "0" },
  });
  await client.files.write("idle", "/spawn-times", createReadStream(program), { mode: 0o755 });
}

/** PSS in bytes of everything that runs for the one sandbox: the processes of its control group, and its shim. */
async function ourMemory({ daemon, client }: Subject): Promise<number> {
  const { runtimeId } = await client.get("idle");
  const mark = `/run/torpor/${daemon.instance}/${runtimeId}`;
  const { pid: shim } = JSON.parse(read(`${mark}/shim.pid`)) as { pid: number };
  const pids = globSync("/proc/[0-9]*/cmdline").filter((file) => {
    const argv = read(file).split("\0");
    const engine = argv.some((word) => word.includes(mark)) && /^(runsc-sandbox|runsc-gofer|.*runsc)$/.test(argv[0] ?? "");
    return engine || file === `/proc/${shim}/cmdline`;
  });
  return pids
    .map((file) => Number(/^Pss:\s+(\d+)/m.exec(read(file.replace("cmdline", "smaps_rollup")))?.[1] ?? 0) * 1024)
    .reduce((a, b) => a + b, 0);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // it ended meanwhile
  }
}

function total(steps: Steps): number {
  return sum(steps, ...Object.keys(steps));
}
