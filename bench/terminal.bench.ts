import type { TorporClient } from "@torpor/sdk";
import { Times } from "../test/system/harness/times.ts";
import type { Benchmark, NamedMeasurement } from "./lib/benchmark.ts";
import { median } from "./lib/median.ts";
import { openSubject } from "./lib/subject.ts";
import { timed } from "./lib/timed.ts";

/** Of output, for the rate. */
const outputBytes = 100_000_000;
const command = `yes 0123456789012345678901234567890123456789012345678901234567890123456789012345678 | head -c ${outputBytes}`;
const size = { rows: 24, columns: 80 };
/** What a key may take on top of a terminal of the host; at the 99th percentile in all. */
const echoMs = { p50: 5, p99: 30 };

/** What somebody at a terminal notices: how soon a key is echoed, and how fast output comes. */
export const benchmark: Benchmark = {
  name: "terminal",
  unit: "ms",
  bound: 1,
  async run(context) {
    const { client, floor } = await openSubject(context);
    await client.create({ image: "debian", name: "terminal" });
    await floor.call("create", { name: "terminal" });
    const keys = Math.max(200, context.runs * 20);
    const host = await floor.call<number[]>("echo", { count: keys });
    const ours = await echoes(client, keys);
    const beside = await besideFlood(client, () => echoes(client, keys));
    const floorMs = { p50: median(host) + echoMs.p50, p99: echoMs.p99 };
    return [
      {
        name: `a key to its echo, p50, of a terminal of the host + ${echoMs.p50} ms`,
        value: ours.at(0.5),
        floor: floorMs.p50,
      },
      { name: `a key to its echo, p99, of ${echoMs.p99} ms`, value: ours.at(0.99), floor: floorMs.p99 },
      { name: "the same beside a terminal that floods, p50", value: beside.at(0.5), floor: floorMs.p50 },
      { name: "the same beside a terminal that floods, p99", value: beside.at(0.99), floor: floorMs.p99 },
      await outputRate(client, () => floor.call<number>("output", { name: "terminal", command: `script -qec '${command}' /dev/null` })),
    ];
  },
};

async function echoes(client: TorporClient, count: number): Promise<Times> {
  const stream = await client.stream("terminal", { argv: ["cat"], stdin: true, terminal: size });
  const frames = stream[Symbol.asyncIterator]();
  const output = async () => {
    for (;;) {
      const { value, done } = await frames.next();
      if (done === true || value.type === "end") throw new Error("the terminal ended");
      if (value.type === "output") return;
    }
  };
  const times = new Times();
  for (let key = 0; key < count; key++) {
    await times.measure(async () => {
      await stream.write(Buffer.from("x"));
      await output();
    });
  }
  stream.close();
  return times;
}

/** While all that another terminal of the sandbox gives is read. */
async function besideFlood<T>(client: TorporClient, work: () => Promise<T>): Promise<T> {
  const flood = await client.stream("terminal", { argv: ["yes", "0123456789".repeat(8)], terminal: size });
  const begun = Promise.withResolvers<void>();
  const reading = (async () => {
    let bytes = 0;
    for await (const frame of flood) {
      if (frame.type !== "output") continue;
      bytes += frame.data.length;
      if (bytes > 1_000_000) begun.resolve();
    }
  })();
  await Promise.race([begun.promise, reading]);
  try {
    return await work();
  } finally {
    flood.close();
    await reading.catch(() => {});
  }
}

/** By hand the terminal is script(1)'s in the sandbox, and a pipe brings its output out: it is the terminal that takes the time, on a host of its own too. */
async function outputRate(client: TorporClient, byHand: () => Promise<number>): Promise<NamedMeasurement> {
  const ours: number[] = [];
  const floor: number[] = [];
  for (let run = 0; run < 3; run++) {
    floor.push(await byHand());
    ours.push((await timed(() => readAll(client))).ms);
  }
  return {
    name: "100 MB through a terminal, of a terminal through runsc exec",
    value: median(ours),
    floor: median(floor),
    bound: 2,
  };
}

async function readAll(client: TorporClient): Promise<void> {
  const stream = await client.stream("terminal", { argv: ["sh", "-c", command], terminal: size });
  let bytes = 0;
  for await (const frame of stream) if (frame.type === "output") bytes += frame.data.length;
  if (bytes < outputBytes) throw new Error(`${bytes} bytes came of ${outputBytes}`);
}
