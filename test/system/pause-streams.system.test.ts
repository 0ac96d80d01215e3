import { expect, test } from "vitest";
import { mib, put, RandomContent } from "./harness/content.ts";
import { cycle } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { atOnceMs, eventually, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("a background loop and an open terminal have the same PIDs and go on; the client's stream ends with the reason paused (P07)", async () => {
  const name = await startSandbox(client);
  const loop = await client.startSession(name, { argv: ["sh", "-c", "while :; do date +%s%N >> /tmp/t; sleep .1; done"] });
  const open = new Follower(await client.stream(name, { argv: ["sh"], stdin: true, terminal: { rows: 24, columns: 80 } }));
  await open.say("X=kept; echo $X $$\n", (text) => /kept \d+/.test(text));
  await client.pause(name);
  await open.finished;
  expect(open.end).toEqual({ reason: "paused", exitCode: null, signal: null, oom: false });
  await client.resume(name, { memory: "require" });
  const lines = async () => Number(await output(client, name, "wc -l < /tmp/t"));
  const before = await lines();
  await eventually(lines, (n) => n > before);
  const pids = await output(client, name, "ps -eo pid= | tr -d ' '");
  expect(pids.split("\n")).toEqual(expect.arrayContaining([String(loop.pid), String(open.pid)]));
  const again = new Follower(await client.attach(name, open.sessionId, { after: open.lastSeq }));
  expect(await again.say("echo $X $$\n", (text) => /kept \d+/.test(text))).toContain(`kept ${open.pid}`);
  await again.stream.write(Buffer.from("exit 7\n"));
  await again.finished;
  expect(again.end).toMatchObject({ reason: "exited", exitCode: 7 });
});

test("re-attaching after the last sequence number gives exactly the output that was missed, once and in order (P07)", async () => {
  const name = await startSandbox(client);
  // It counts until it is told that it is enough, so that output falls before, into and after each pause.
  const program =
    "import itertools, os, time\nfor i in itertools.count(1):\n    print(i, flush=True)\n    time.sleep(0.001)\n    if os.path.exists('/tmp/enough'): break\n";
  let follower = new Follower(await client.stream(name, { argv: ["python3", "-c", program] }));
  await follower.until(({ text }) => text.length > 400);
  const { sessionId } = follower;
  let text = "";
  for (let round = 0; round < 3; round++) {
    await client.pause(name);
    await follower.finished;
    expect(follower.end?.reason).toBe("paused");
    text += follower.text;
    await client.resume(name, { memory: "require" });
    follower = new Follower(await client.attach(name, sessionId, { after: follower.lastSeq }));
    await follower.until((now) => now.text.length > 100);
  }
  await output(client, name, "touch /tmp/enough");
  await follower.finished;
  text += follower.text;
  expect(follower.end).toMatchObject({ reason: "exited", exitCode: 0 });
  expect(text).toBe(Array.from({ length: text.split("\n").length - 1 }, (_, i) => `${i + 1}\n`).join(""));
});

test("the line answers at once after a pause in the middle of uploads and streams (P12)", async () => {
  const name = await startSandbox(client);
  const before = await output(client, name, "ls -A /root");
  for (let round = 0; round < 8; round++) {
    const streams = await Promise.all(
      Array.from(
        { length: 5 },
        async () => new Follower(await client.stream(name, { argv: ["sh", "-c", "while :; do seq 1 1000; sleep 0.02; done"] })),
      ),
    );
    const { promise: atHalf, resolve: half } = Promise.withResolvers<void>();
    const upload = client.files.write(name, "/root/upload", haltingHalfway(half)).then(
      () => "written",
      (error: { code: string }) => error.code,
    );
    await Promise.all([atHalf, ...streams.map((stream) => stream.until(({ text }) => text.length > 0))]);
    await client.pause(name);
    await Promise.all(streams.map((stream) => stream.finished));
    expect(streams.map(({ end }) => end?.reason)).toEqual(Array(5).fill("paused"));
    expect(await upload).toBe("session_paused");
    await client.resume(name, { memory: "require" });
    const asked = performance.now();
    expect(await output(client, name, ["echo", "ok"])).toBe("ok");
    expect(performance.now() - asked).toBeLessThan(atOnceMs);
    await Promise.all(streams.map(({ sessionId }) => client.removeSession(name, sessionId, { force: true })));
    expect(await output(client, name, "ls -A /root")).toBe(before);
  }
});

test("an upload that a pause cuts is never taken for the whole file (L12)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir /up");
  await put(client, name, "/up/file", "old");
  const { promise: atHalf, resolve: half } = Promise.withResolvers<void>();
  const upload = client.files.write(name, "/up/file", haltingHalfway(half));
  upload.catch(() => {});
  await atHalf;
  await cycle(client, name);
  await expect(upload).rejects.toMatchObject({ code: "session_paused" });
  expect(await output(client, name, "cat /up/file; ls -A /up")).toBe("oldfile");
});

/** 10 of 20 MB, and then nothing: whoever waits for the rest has to be told. */
async function* haltingHalfway(atHalf: () => void): AsyncGenerator<Uint8Array> {
  yield* new RandomContent(10 * mib);
  atHalf();
  await new Promise(() => {});
}
