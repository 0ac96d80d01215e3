import { readdir } from "node:fs/promises";
import path from "node:path";
import type { ForkResult } from "@torpor/contract";
import { expect, test } from "vitest";
import type { z } from "zod";
import { put } from "./harness/content.ts";
import { cycle, startPython } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { eventually, inside, output } from "./harness/inside.ts";
import { sandboxName, sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

/** Counts in memory, and notes each number with its process, its time and who it is. */
const counter = `
import os, time
n = 0
while True:
    n += 1
    open('/dev/shm/.n', 'w').write(f'{n} {os.getpid()}'); os.rename('/dev/shm/.n', '/dev/shm/n')
    time.sleep(0.01)
`;

test("forks of forks, each with its own memory, files and count, and the deepest one pauses (F09)", async () => {
  const base = await startSandbox(client);
  await startPython(client, base, counter);
  let parent = base;
  let [last, pid] = await eventually(
    () => count(base),
    ([n]) => n > 5,
  );
  for (let level = 1; level <= 4; level++) {
    await output(client, parent, `echo ${level} >> /root/levels; echo ${level} >> /tmp/levels`);
    const [child] = await fork(parent, { name: `${base}-${level}` });
    const [n, samePid] = await eventually(
      () => count(child),
      ([now]) => now > last,
    );
    expect(samePid).toBe(pid);
    const levels = Array.from({ length: level }, (_, i) => i + 1).join("\n");
    expect(await output(client, child, "cat /root/levels")).toBe(levels);
    expect(await output(client, child, "cat /tmp/levels")).toBe(levels);
    expect((await client.get(child)).parentId).toBe((await client.get(parent)).id);
    [last, parent] = [n, child];
  }
  await cycle(client, parent);
  expect(
    (
      await eventually(
        () => count(parent),
        ([n]) => n > last,
      )
    )[1],
  ).toBe(pid);
  expect(await output(client, base, "cat /root/levels")).toBe("1");
});

test("two children go on from the same number, each by itself, and the source without a gap (F04)", async () => {
  const name = await startSandbox(client);
  // A dict in a running interpreter, printed when it is asked.
  const asked = await client.startSession(name, { argv: ["python3", "-ic", "state = {'x': 'live'}"], stdin: true });
  await startPython(client, name, counter);
  await eventually(
    () => count(name),
    ([n]) => n > 5,
  );
  await output(client, name, "echo live > /x");
  const stream = new Follower(
    await client.stream(name, {
      argv: ["python3", "-c", "import time\nfor i in range(1, 2001):\n    print(i, flush=True)\n    time.sleep(0.001)"],
    }),
  );
  await stream.until(({ text }) => text.length > 100);
  const before = await output(client, name, "ps -eo pid=,args= | grep [p]ython3");
  const [atFork] = await count(name);
  const children = await fork(name, { name: `${name}-child`, count: 2 });
  expect(children).toEqual([`${name}-child-1`, `${name}-child-2`]);
  expect(await output(client, name, "ps -eo pid=,args= | grep [p]ython3 || true")).toContain(before.split("\n")[0]);
  const firsts = await Promise.all(children.map((child) => count(child)));
  for (const [i, child] of children.entries()) {
    // Both were taken after the fork was asked for and go on from there.
    expect(firsts[i]?.[0]).toBeGreaterThanOrEqual(atFork);
    await eventually(
      () => count(child),
      ([n]) => n > (firsts[i]?.[0] ?? 0),
    );
    expect(await output(client, child, "cat /x")).toBe("live");
    const python = new Follower(await client.attach(child, asked.id));
    await python.until(({ sessionId }) => sessionId !== "");
    await python.say("print(state['x'] * 2)\n", (text) => text.includes("livelive"));
    python.stream.close();
  }
  await stream.finished;
  expect(stream.text).toBe(Array.from({ length: 2000 }, (_, i) => `${i + 1}\n`).join(""));
  expect(stream.end).toMatchObject({ reason: "exited", exitCode: 0 });
});

test("each child knows who it is, and its own hooks run (C12, C06)", async () => {
  const name = await startSandbox(client, { env: { SETTING: "same" } });
  for (const origin of ["forked", "resumed"]) {
    await put(
      client,
      name,
      `/etc/torpor/hooks/${origin}.d/note`,
      `#!/bin/sh\necho ${origin} $TORPOR_SANDBOX_NAME $TORPOR_GENERATION $TORPOR_PARENT_ID >> /root/hooks\n`,
      { mode: 0o755, parents: true },
    );
  }
  await put(
    client,
    name,
    "/root/seeded.py",
    "import random, uuid, signal\nrandom.seed(7)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])\nopen('/root/ready', 'w')\nsignal.sigwait([signal.SIGHUP])\nprint(uuid.uuid4(), random.random())\n",
  );
  const { id: session } = await client.startSession(name, { argv: ["python3", "/root/seeded.py"] });
  await eventually(
    () => inside(client, name, "test -e /root/ready"),
    ({ end }) => end.exitCode === 0,
  );
  const source = await client.get(name);
  const names = [1, 2, 3].map((i) => `${name}-child-${i}`);
  const taken = client.fork(name, { names: [...names, name] });
  await expect(taken).rejects.toMatchObject({ code: "name_taken", details: { name } });
  const twice = client.fork(name, { names: [...names, ...names] });
  await expect(twice).rejects.toMatchObject({ code: "name_taken", details: { name: names[0] } });
  await expect(client.fork(name, { count: 101 })).rejects.toMatchObject({ code: "invalid_request" });
  expect((await client.operations(name)).map(({ kind }) => kind)).toEqual(["create"]);
  const children = await fork(name, { names, env: { SETTING: "its own" }, labels: { plan: "b" } });
  const said: string[][] = [];
  for (const [at, child] of children.entries()) {
    const record = await client.get(child);
    expect(record).toMatchObject({
      name: child,
      parentId: source.id,
      fork: { index: at + 1, count: 3 },
      labels: { plan: "b" },
      state: "running",
      restored: "memory",
      resources: source.resources,
      env: { SETTING: "its own" },
    });
    expect(
      await output(client, child, "hostname; cat /etc/hostname; echo $HOSTNAME $TORPOR_SANDBOX_ID $TORPOR_SANDBOX_NAME $SETTING"),
    ).toBe(`${child}\n${child}\n${child} ${record.id} ${child} its own`);
    expect(await output(client, child, "echo $TORPOR_PARENT_ID $TORPOR_FORK_INDEX $TORPOR_FORK_COUNT")).toBe(`${source.id} ${at + 1} 3`);
    expect(JSON.parse(await output(client, child, "cat /run/torpor/identity.json"))).toEqual({
      id: record.id,
      name: child,
      generation: record.generation,
      parent: source.id,
      forkIndex: at + 1,
      forkCount: 3,
    });
    expect(await output(client, child, "ip -4 -o addr show dev eth0")).toContain(` ${record.address}/`);
    expect(
      await eventually(
        () => output(client, child, "cat /root/hooks 2>/dev/null || true"),
        (text) => text !== "",
      ),
    ).toBe(`forked ${child} ${record.generation} ${source.id}`);
    await client.signal(child, session, "HUP");
    const waiting = new Follower(await client.attach(child, session));
    await waiting.finished;
    said.push(waiting.text.trim().split(" "));
  }
  expect(new Set(said.map(([uuid]) => uuid)).size).toBe(3);
  // A generator in the process's own memory is copied with it: what the hooks are for.
  expect(new Set(said.map(([, random]) => random)).size).toBe(1);
  const records = await Promise.all([name, ...children].map((one) => client.get(one)));
  expect(new Set(records.map(({ address }) => address)).size).toBe(4);
  expect(JSON.parse(await output(client, name, "cat /run/torpor/identity.json"))).toEqual({
    id: source.id,
    name,
    generation: source.generation,
  });
  expect((await inside(client, name, "cat /root/hooks")).end.exitCode).toBe(1);
  await cycle(client, name);
  expect(
    await eventually(
      () => output(client, name, "cat /root/hooks 2>/dev/null || true"),
      (text) => text !== "",
    ),
  ).toBe(`resumed ${name} ${source.generation + 1}`);
});

test("a paused sandbox forks without waking, with its memory or with files only", async () => {
  const name = await startSandbox(client);
  await startPython(client, name, counter);
  const [last, pid] = await eventually(
    () => count(name),
    ([n]) => n > 5,
  );
  await output(client, name, "echo f > /root/f");
  await client.pause(name);
  const { updatedAt: _, ...paused } = await client.get(name);
  const [woken] = await fork(name, { name: `${name}-memory` });
  const [files] = await fork(name, { name: `${name}-files`, memory: false });
  expect(await client.get(name)).toMatchObject(paused);
  expect(
    (
      await eventually(
        () => count(woken),
        ([n]) => n > last,
      )
    )[1],
  ).toBe(pid);
  expect((await client.get(files)).restored).toBe("files");
  expect(await output(client, files, "cat /root/f; ls /dev/shm | wc -l; pgrep -c python3 || true")).toBe("f\n0\n0");
  await client.resume(name, { memory: "require" });
  expect(
    (
      await eventually(
        () => count(name),
        ([n]) => n > last,
      )
    )[1],
  ).toBe(pid);
});

test("children outlive their parent, and when all are gone the pool has nothing of them", async () => {
  const pool = (await client.info()).pool.path;
  const holdings = async () => ({
    disks: (await readdir(path.join(pool, "disks"))).sort(),
    checkpoints: (await readdir(path.join(pool, "checkpoints"))).sort(),
  });
  // The template of the size is made by the first disk of it, and stays.
  const warm = sandboxName(client);
  await client.create({ image: "debian", name: warm });
  await client.remove(warm, { force: true });
  const before = await holdings();
  const name = await startSandbox(client);
  await startPython(client, name, counter);
  const [last] = await eventually(
    () => count(name),
    ([n]) => n > 5,
  );
  const children = await fork(name, { name: `${name}-child`, count: 2 });
  const [files] = await fork(name, { name: `${name}-files`, memory: false });
  await client.pause(children[1] ?? "");
  const { id } = await client.get(name);
  await client.remove(name, { force: true });
  const left = (await client.tree(children[1])).map((one) => [one.name, one.state, one.parentId]);
  expect(left).toEqual([
    [name, "gone", null],
    [children[0], "running", id],
    [children[1], "paused", id],
    [files, "running", id],
  ]);
  await eventually(
    () => count(children[0] ?? ""),
    ([n]) => n > last,
  );
  await client.resume(children[1] ?? "", { memory: "require" });
  await eventually(
    () => count(children[1] ?? ""),
    ([n]) => n > last,
  );
  expect(await output(client, files, "ls / | grep -c etc")).toBe("1");
  for (const one of [...children, files]) {
    await client.remove(one, { force: true });
  }
  await expect(client.tree(id)).rejects.toMatchObject({ code: "sandbox_not_found" });
  // Less than before: what a test before this one had, and was freed a moment after its end.
  await eventually(
    holdings,
    (now) => now.disks.every((id) => before.disks.includes(id)) && now.checkpoints.every((id) => before.checkpoints.includes(id)),
  );
});

async function count(name: string): Promise<[number, number]> {
  return (await output(client, name, "cat /dev/shm/n 2>/dev/null || echo 0 0")).split(" ").map(Number) as [number, number];
}

/** Names of the children, all of which have to be there. */
async function fork(name: string, request: Parameters<typeof client.fork>[1]): Promise<[string, ...string[]]> {
  const { operation } = await client.fork(name, request);
  const { children } = operation.result as z.infer<typeof ForkResult>;
  expect(children.map(({ error }) => error)).toEqual(children.map(() => null));
  return children.map((child) => child.name) as [string, ...string[]];
}
