import { expect, test } from "vitest";
import { cycle, startPython } from "../system/harness/cycle.ts";
import { Follower } from "../system/harness/follow.ts";
import { eventually, output } from "../system/harness/inside.ts";
import { sharedClient, startSandbox } from "../system/harness/shared.ts";

const client = sharedClient();
const rounds = Number(process.env.SOAK_ROUNDS ?? 1000);
const mib = 2 ** 20;

test("a sandbox of 256 MiB is paused and resumed a thousand times, none over 30 s, with its counter (P27, P28)", async () => {
  const name = await startSandbox(client, { resources: { memoryBytes: 256 * mib } });
  await startPython(
    client,
    name,
    "import os, time\nn = 0\nwhile True:\n    n += 1\n    open('/dev/shm/.n', 'w').write(f'{n} {os.getpid()}'); os.rename('/dev/shm/.n', '/dev/shm/n')\n    time.sleep(0.01)\n",
  );
  const read = async () =>
    (await output(client, name, "cat /dev/shm/n 2>/dev/null || echo 0 0")).split(" ").map(Number) as [number, number];
  let [last, pid] = await eventually(read, ([n]) => n > 3);
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const asked = performance.now();
    await cycle(client, name);
    times.push(performance.now() - asked);
    const [n, samePid] = await eventually(read, ([now]) => now > last);
    expect(samePid, `round ${i}`).toBe(pid);
    last = n;
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? 0);
  console.log(`pause and resume of ${rounds}: median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`);
  expect(times.at(-1)).toBeLessThan(30_000);
});

test("a hundred pauses at random moments of a stream (E28, P12)", async () => {
  const name = await startSandbox(client);
  for (let i = 0; i < rounds / 10; i++) {
    const streams = await Promise.all(
      Array.from(
        { length: 5 },
        async () => new Follower(await client.stream(name, { argv: ["sh", "-c", "while :; do seq 1 1000; done"] })),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
    await client.pause(name);
    await Promise.all(streams.map(({ finished }) => finished));
    // One whose start the pause forestalled was refused, and never ran.
    for (const { end, failure, sessionId } of streams) {
      const ended = end?.reason ?? `${sessionId} ${(failure as { code?: string }).code}`;
      expect(["paused", " operation_active"]).toContain(ended);
    }
    await client.resume(name, { memory: "require" });
    const asked = performance.now();
    expect(await output(client, name, ["echo", "ok"])).toBe("ok");
    expect(performance.now() - asked).toBeLessThan(2000);
    for (const { id } of await client.sessions(name)) {
      await client.removeSession(name, id, { force: true });
    }
  }
});
