import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Follower } from "../system/harness/follow.ts";
import { eventually, inside, output } from "../system/harness/inside.ts";
import { sharedClient, startSandbox } from "../system/harness/shared.ts";
import { runTorpor } from "../system/harness/torpor-process.ts";

const client = sharedClient();

test("a thousand very short commands and a thousand on terminals lose nothing (E04)", async () => {
  const name = await startSandbox(client);
  for (let i = 0; i < 1000; i++) {
    expect(await inside(client, name, ["echo", "x"])).toMatchObject({ stdout: "x\n", end: { exitCode: 0 } });
    const terminal = new Follower(await client.stream(name, { argv: ["echo", "x"], terminal: { rows: 24, columns: 80 } }));
    await terminal.finished;
    expect([terminal.text, terminal.end?.exitCode]).toEqual(["x\r\n", 0]);
  }
});

test("a command that is silent for three minutes is not cut (E24)", async () => {
  const name = await startSandbox(client);
  const [called, typed] = await Promise.all([
    output(client, name, "sleep 180; echo ok"),
    runTorpor(["exec", name, "sh", "-c", "sleep 180; echo ok"]),
  ]);
  expect(called).toBe("ok");
  expect([typed.code, typed.stdout.toString()]).toEqual([0, "ok\n"]);
});

test("a reader that is away for three minutes gets all of it afterwards (E12)", async () => {
  const name = await startSandbox(client);
  const { id } = await client.startSession(name, { argv: ["sh", "-c", "for i in $(seq 1 200); do echo $i; sleep 1; done; exit 5"] });
  const first = new Follower(await client.attach(name, id));
  await first.until(({ text }) => text.includes("3\n"));
  first.stream.close();
  await first.finished;
  await sleep(180_000);
  const rest = new Follower(await client.attach(name, id, { after: first.lastSeq }));
  await rest.finished;
  expect(first.text + rest.text).toBe(Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join(""));
  expect(rest.end?.exitCode).toBe(5);
});

test("5000 commands, a third on terminals and a third cut, leave nothing behind (D16)", async () => {
  const name = await startSandbox(client);
  const counts = async () =>
    (
      await output(
        client,
        name,
        "ls /proc/1/fd | wc -l; ls /proc/1/task | wc -l; ps -eo stat= | grep -c Z || true; ps -e --no-headers | wc -l",
      )
    )
      .split("\n")
      .map(Number) as [number, number, number, number];
  const round = async (count: number) => {
    for (let i = 0; i < count; i += 3) {
      await inside(client, name, ["true"]);
      await new Follower(await client.stream(name, { argv: ["true"], terminal: { rows: 24, columns: 80 } })).finished;
      (await client.stream(name, { argv: ["head", "-c", "1000", "/dev/zero"] })).close();
    }
  };
  await round(300);
  const before = await eventually(counts, ([, , zombies]) => zombies === 0);
  await round(5000);
  const after = await eventually(counts, ([, , zombies, tasks]) => zombies === 0 && tasks <= before[3] + 2);
  expect(after[0]).toBeLessThan(before[0] + 20);
  expect(after[1]).toBeLessThan(before[1] + 20);
});
