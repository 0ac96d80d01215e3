import { expect } from "vitest";
import { mib } from "./content.ts";
import { type Held, leaks, readHeld } from "./held.ts";
import { hostAgrees } from "./holdings.ts";
import { eventually } from "./inside.ts";
import { TestDaemon } from "./test-daemon.ts";
import { Times } from "./times.ts";
import { Workload } from "./workload.ts";

const name = "soaked";
/** Of 256 MiB; the programs, and the files that the engine keeps in memory, need the rest. */
const patternMib = 96;
/** Until then caches and pools fill. */
const warmUpCycles = 5;
const limitMs = 30_000;

/**
 * Pauses and resumes a sandbox of 256 MiB that has much at work at once. After each resume all of it goes on, with its memory, and is whole; in the
 * end nothing has leaked and no cycle took over 30 s. Prints the figures.
 */
export async function soak(cycles: number): Promise<void> {
  await using daemon = await TestDaemon.start();
  const { client } = daemon;
  await client.create({ image: "debian", name, resources: { memoryBytes: 256 * mib } });
  const workload = await Workload.start(client, name, patternMib);
  const times = { pause: new Times(), resume: new Times() };
  let before: Held | undefined;
  for (let cycle = 1; cycle <= cycles; cycle++) {
    try {
      await times.pause.measure(() => client.pause(name));
      await workload.paused();
      await times.resume.measure(() => client.resume(name, { memory: "require" }));
      await workload.goesOn();
    } catch (cause) {
      throw new Error(`lost in cycle ${cycle} of ${cycles}: ${await lastWords(daemon)}`, { cause });
    }
    if (cycle === warmUpCycles) before = await readHeld(daemon, name);
  }
  if (before === undefined) throw new Error(`${cycles} cycles are fewer than the ${warmUpCycles} of the warm-up`);
  await expectNoLeaks(daemon, before);
  const secondTries = daemon.log().split("a restore failed").length - 1;
  console.log(
    `${cycles} pauses and resumes of a sandbox of 256 MiB: 0 lost, ${secondTries} restored at the second try\n  pause: ${times.pause}\n  resume: ${times.resume}`,
  );
  for (const each of Object.values(times)) expect(each.at(1)).toBeLessThan(limitMs);
  await client.pause(name);
  await client.resume(name, { memory: "discard" });
  await workload.hasAcknowledged();
}

/** What became of the programs, the sandbox's last events, and the end of the daemon's log: all of it is removed with the daemon. */
async function lastWords(daemon: TestDaemon): Promise<string> {
  const { client } = daemon;
  const [sessions, events] = await Promise.all([client.sessions(name).catch(String), client.events(name).catch(String)]);
  return `${JSON.stringify(sessions)}\n${JSON.stringify(events.slice(-20))}\n${daemon.log().slice(-4000)}`;
}

/** What an operation leaves is freed a moment after its answer. */
async function expectNoLeaks(daemon: TestDaemon, before: Held): Promise<void> {
  let after = before;
  const look = async () => {
    after = await readHeld(daemon, name);
    return leaks(before, after);
  };
  await eventually(look, (found) => found.length === 0);
  await hostAgrees(daemon);
  console.log(
    Object.entries(after)
      .map(([what, count]) => `  ${what}: ${before[what as keyof Held]} before, ${count} after`)
      .join("\n"),
  );
}
