import { expect, test } from "vitest";
import { Follower } from "../system/harness/follow.ts";
import { output } from "../system/harness/inside.ts";
import { sharedClient, startSandbox } from "../system/harness/shared.ts";
import { soak } from "../system/harness/soak.ts";

const client = sharedClient();
const rounds = Number(process.env.SOAK_ROUNDS ?? 1000);

test("a sandbox of 256 MiB with much at work is paused and resumed a thousand times: none lost, none over 30 s, nothing leaked (P27, P28)", () =>
  soak(rounds));

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
