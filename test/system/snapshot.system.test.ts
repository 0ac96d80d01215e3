import path from "node:path";
import { expect, test } from "vitest";
import { importBare } from "./harness/bare-image.ts";
import { flipByte } from "./harness/flip-byte.ts";
import { Follower } from "./harness/follow.ts";
import { output } from "./harness/inside.ts";
import { sandboxName, sharedClient, snapshotName, startSandbox } from "./harness/shared.ts";
import { goesOn, hasFiles, startWitness } from "./harness/witness.ts";

const client = sharedClient();

test("a snapshot with memory outlives its source, and two made from it count on (F04)", async () => {
  const source = await startSandbox(client, { env: { SETTING: "kept" } });
  const before = await startWitness(client, source);
  const name = snapshotName(client);
  const { operation } = await client.snapshot(source, { name, labels: { step: "1" } });
  expect(operation.result).toMatchObject({ snapshot: { name }, memory: true, checkpointBytes: expect.any(Number) });
  // The source goes on.
  await goesOn(client, source, before);
  const { id: sourceId } = await client.get(source);
  await client.remove(source, { force: true });

  const child = sandboxName(client);
  const { operation: first, siblings = [] } = await client.create({ snapshot: name, name: child, count: 2 });
  expect([first, ...siblings.map((sibling) => sibling.operation)].map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  const { id: snapshotId } = await client.snapshots.get(name);
  for (const made of [`${child}-1`, `${child}-2`]) {
    await goesOn(client, made, before);
    await hasFiles(client, made);
    expect(await output(client, made, "echo $SETTING $TORPOR_SANDBOX_NAME")).toBe(`kept ${made}`);
    expect(await client.get(made)).toMatchObject({ parentId: sourceId, snapshotId, restored: "memory", generation: 1 });
  }
});

test("a fork is resumed, paused, and put back to its source's snapshot; both live by themselves, and what was restored is kept again (F07, F09)", async () => {
  const source = await startSandbox(client);
  const before = await startWitness(client, source);
  const name = snapshotName(client);
  await client.snapshot(source, { name });
  await client.fork(source, { name: `${source}-fork` });
  const fork = `${source}-fork`;
  await client.pause(fork);
  await client.resume(fork, { memory: "require" });
  await output(client, fork, "rm /root/marker; pkill python3");
  await client.pause(fork);
  const { id, address, checkpoint } = await client.get(fork);
  const { sandbox } = await client.restore(fork, { snapshot: name });
  expect(sandbox).toMatchObject({ id, address, state: "paused" });
  expect(sandbox?.checkpoint?.id).not.toBe(checkpoint?.id);
  await client.resume(fork, { memory: "require" });
  await goesOn(client, fork, before);
  await hasFiles(client, fork);
  expect(await output(client, fork, "hostname")).toBe(fork);
  await goesOn(client, source, before);

  const again = snapshotName(client);
  await client.snapshot(fork, { name: again });
  expect((await client.snapshots.get(again)).parentId).toBe((await client.snapshots.get(name)).id);
  await client.snapshots.remove(name);
  await client.stop(source);
  expect((await client.restore(source, { snapshot: again })).sandbox).toMatchObject({ state: "paused" });
  await client.resume(source, { memory: "require" });
  await goesOn(client, source, before);
});

test("a paused sandbox is kept with its memory without waking, and a stopped one with its files", async () => {
  const source = await startSandbox(client);
  const before = await startWitness(client, source);
  await client.pause(source);
  const { updatedAt: _, ...paused } = await client.get(source);
  const memory = snapshotName(client);
  await client.snapshot(source, { name: memory });
  expect(await client.get(source)).toMatchObject(paused);
  await client.stop(source);
  const files = snapshotName(client);
  await expect(client.snapshot(source, { name: files })).rejects.toMatchObject({ code: "sandbox_not_running" });
  await client.snapshot(source, { name: files, memory: false });
  await client.remove(source);

  const child = sandboxName(client);
  await client.create({ snapshot: memory, name: `${child}-memory` });
  await goesOn(client, `${child}-memory`, before);
  const { sandbox } = await client.create({ snapshot: files, name: `${child}-files` });
  expect(sandbox).toMatchObject({ restored: "files" });
  await hasFiles(client, `${child}-files`);
  expect(await output(client, `${child}-files`, "pgrep -c python3 || true")).toBe("0");
});

test("files only of a running sandbox: all that was written is there, and a same-size, same-time rewrite, an opaque directory and odd files too (F10, F13, F15)", async () => {
  const source = await startSandbox(client);
  await output(
    client,
    source,
    `mkdir -p /data/deep && for i in $(seq 200); do echo $i > /data/deep/$i; done
     rm -rf /usr/share/doc && mkdir /usr/share/doc && touch /usr/share/doc/me
     mkfifo /data/fifo && ln -s /etc/hostname /data/link && printf AAAA > /data/f && touch -d @1000000000 /data/f`,
  );
  const first = snapshotName(client);
  const { operation } = await client.snapshot(source, { name: first, memory: false });
  expect(operation.result).toMatchObject({ memory: false, checkpointBytes: 0 });
  await output(client, source, "printf BBBB > /data/f && touch -d @1000000000 /data/f && rm -r /data/deep");
  const second = snapshotName(client);
  await client.snapshot(source, { name: second, memory: false });
  await client.remove(source, { force: true });
  const child = sandboxName(client);
  const [one, two] = [`${child}-1`, `${child}-2`] as const;
  await Promise.all([client.create({ snapshot: first, name: one }), client.create({ snapshot: second, name: two })]);
  // A FIFO is in the engine's memory, not on the disk: it hinders nobody, and is not there.
  for (const made of [one, two]) {
    expect(await output(client, made, "ls /usr/share/doc; readlink /data/link")).toBe("me\n/etc/hostname");
  }
  expect(await output(client, one, "cat /data/f; cat /data/deep/* | sort -n | tail -1; ls /data/deep | wc -l")).toBe("AAAA200\n200");
  expect(await output(client, two, "cat /data/f; test ! -e /data/deep")).toBe("BBBB");
});

test("what was synced and told to the outside is in a files-only snapshot and after a files-only pause, in whole lines (F01)", async () => {
  const source = await startSandbox(client);
  const writer = new Follower(
    await client.stream(source, {
      argv: [
        "python3",
        "-c",
        "import os\nf = open('/root/log', 'w')\nn = 0\nwhile True:\n  n += 1\n  f.write(f'line {n}\\n')\n  f.flush()\n  os.fsync(f.fileno())\n  print(n, flush=True)",
      ],
    }),
  );
  const told = () => Number(/(\d+)\n[^\n]*$/.exec(writer.text)?.[1] ?? 0);
  await writer.until(() => told() > 20);
  const atSnapshot = told();
  const name = snapshotName(client);
  await client.snapshot(source, { name, memory: false });
  await writer.until(() => told() > atSnapshot + 20);
  await client.pause(source, { memory: false });
  await writer.finished;
  await client.resume(source);
  const child = sandboxName(client);
  await client.create({ snapshot: name, name: child });
  for (const [sandbox, least] of [
    [child, atSnapshot],
    [source, told()],
  ] as const) {
    const log = await output(client, sandbox, "cat /root/log");
    const lines = log.split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(least);
    expect(lines).toEqual(lines.map((_, index) => `line ${index + 1}`));
  }
});

test("D01: of a snapshot whose memory is damaged nothing is made, the part is named, and its files can be had", async () => {
  const source = await startSandbox(client);
  await startWitness(client, source);
  const name = snapshotName(client);
  await client.snapshot(source, { name });
  const { checkpoint } = await client.snapshots.get(name);
  const pages = path.join((await client.info()).pool.path, "checkpoints", checkpoint?.id ?? "", "pages.img");
  await flipByte(pages);
  const child = sandboxName(client);
  await expect(client.create({ snapshot: name, name: child })).rejects.toMatchObject({
    code: "checkpoint_corrupt",
    message: expect.stringContaining("pages.img"),
    hint: expect.stringContaining("--files-only"),
  });
  await expect(client.get(child)).rejects.toMatchObject({ code: "sandbox_not_found" });
  // A restore copies it, and the resume finds out.
  await client.pause(source);
  await client.restore(source, { snapshot: name });
  await expect(client.resume(source, { memory: "require" })).rejects.toMatchObject({ code: "checkpoint_corrupt" });
  await client.create({ snapshot: name, name: child, memory: false });
  await hasFiles(client, child);
});

test("a rebase puts the files over another image, boots fresh, and is taken back with the memory", async () => {
  const source = await startSandbox(client);
  const before = await startWitness(client, source);
  await importBare(client);
  await expect(client.rebase(source, { image: "bare" })).rejects.toMatchObject({ code: "sandbox_not_paused" });
  await client.pause(source);
  const { operation } = await client.rebase(source, { image: "bare", rollbackMs: 3_600_000 });
  const { rollback } = operation.result as { rollback: { id: string } };
  await client.resume(source);
  // Of the old image nothing is there, of the sandbox's own files everything.
  const { entry } = await client.files.read(source, "/root/marker");
  expect(entry.size).toBe(5);
  await expect(client.files.stat(source, "/bin/sh")).rejects.toMatchObject({ code: "file_not_found" });
  await client.stop(source);
  await client.rollback(source);
  expect(await client.get(source)).toMatchObject({ state: "paused", image: { reference: "debian" } });
  await client.resume(source, { memory: "require" });
  await goesOn(client, source, before);
  await client.snapshots.remove(rollback.id);
});
