import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandNotStarted, Conflict, NotFound, type Output, TimedOut, Torpor, TorporError } from "./index.ts";
import { startDaemon } from "./testing/daemon.ts";

let daemon: Awaited<ReturnType<typeof startDaemon>>;
let torpor: Torpor;
beforeAll(async () => {
  daemon = await startDaemon();
  torpor = new Torpor({ socket: daemon.socket });
});
afterAll(async () => {
  torpor.close();
  await daemon[Symbol.asyncDispose]();
});

test("A07: the state is that of the last call, and a sandbox that another client removed is not found", async () => {
  const sandbox = await torpor.create({ image: "debian", name: "stale", memoryMiB: 256 });
  expect(sandbox.record.resources.memoryBytes).toBe(256 * 1024 * 1024);
  expect((await sandbox.pause()).state).toBe("paused");
  expect(sandbox.state).toBe("paused");
  await expect(sandbox.exec("true")).rejects.toBeInstanceOf(Conflict);
  expect((await sandbox.resume()).state).toBe("running");
  expect((await sandbox.stop()).state).toBe("stopped");
  expect((await sandbox.start()).state).toBe("running");
  await daemon.client.remove("stale", { force: true });
  const error = await sandbox.refresh().catch((refusal: unknown) => refusal);
  expect(error).toBeInstanceOf(NotFound);
  expect(error).toBeInstanceOf(TorporError);
  expect(error).toMatchObject({ code: "sandbox_not_found", name: "NotFound" });
});

test("await using removes it, and one that is gone already is fine", async () => {
  {
    await using sandbox = await torpor.create({ image: "debian", name: "brief" });
    await using gone = await torpor.create({ image: "debian" });
    await gone.remove({ force: true });
    expect((await torpor.get("brief")).id).toBe(sandbox.id);
  }
  await expect(torpor.get("brief")).rejects.toBeInstanceOf(NotFound);
});

test("a list is an array when awaited, and pages when iterated", async () => {
  await using one = await torpor.create({ image: "debian", labels: { set: "list" } });
  await using two = await torpor.create({ image: "debian", labels: { set: "list" } });
  await two.pause();
  expect((await torpor.list({ labels: { set: "list" } })).map(({ id }) => id)).toEqual([one.id, two.id]);
  const paused: string[] = [];
  for await (const { id } of torpor.list({ states: ["paused"], labels: { set: "list" } })) paused.push(id);
  expect(paused).toEqual([two.id]);
  expect((await one.update({ labels: { set: null, n: "2" }, idleMs: 600_000 })).record).toMatchObject({
    labels: { n: "2" },
    idleMs: 600_000,
  });
  expect((await torpor.list({ labels: { set: "list" } })).map(({ id }) => id)).toEqual([two.id]);
});

test("exec: text or argv, both streams, input, callbacks, limits", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  expect(await sandbox.exec("echo out; echo err >&2; exit 3")).toMatchObject({
    stdout: "out\n",
    stderr: "err\n",
    exitCode: 3,
    signal: null,
  });
  expect((await sandbox.exec(["printf", "%s", "$HOME"], { background: false })).stdout).toBe("$HOME");
  expect((await sandbox.exec(["cat"], { stdin: "grüße" })).stdout).toBe("grüße");
  const bytes = randomBytes(3_000_000);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
  }
  const echoed = await sandbox.exec(["cat"], { stdin: pieces() });
  expect(Buffer.from(echoed.stdoutBytes).equals(bytes)).toBe(true);
  const said: string[] = [];
  await sandbox.exec("printf 'gr\\303'; sleep 0.1; printf '\\274n'; echo e >&2", {
    onStdout: (text) => said.push(text),
    onStderr: (text) => said.push(`err ${text}`),
  });
  expect(said.filter((text) => !text.startsWith("err")).join("")).toBe("grün");
  expect(said).toContain("err e\n");
  // A busy machine may not come to the output in time; it has come to it when there is what was made after it.
  const limited = await sandbox.exec("echo begun; touch begun; sleep 60", { timeoutMs: 200 });
  expect(limited).toMatchObject({
    timedOut: true,
    exitCode: 124,
    stdout: (await sandbox.files.exists("begun")) ? "begun\n" : limited.stdout,
  });
  expect(await sandbox.exec("seq 1 100000", { outputLimitBytes: 7 })).toMatchObject({ stdout: "100000\n", truncated: true });
  await expect(sandbox.exec(["nosuch"])).rejects.toBeInstanceOf(CommandNotStarted);
});

test("an abort ends the command that is waited for", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const abort = new AbortController();
  const running = sandbox.exec("echo begun; exec sleep 600", { signal: abort.signal, onStdout: () => abort.abort(new Error("enough")) });
  await expect(running).rejects.toThrow("enough");
  const [{ id }] = (await sandbox.commands()) as unknown as [{ id: string }];
  expect((await (await sandbox.attach(id)).wait()).exitCode).toBe(137);
  await expect(sandbox.exec("true", { signal: AbortSignal.abort(new Error("early")) })).rejects.toThrow("early");
});

test("a command in the background is read, left, read on from another client, and killed", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const command = await sandbox.exec("i=0; while [ $i -lt 20 ]; do echo $i; i=$((i+1)); done; read x; echo got $x; exec sleep 600", {
    background: true,
    stdin: true,
  });
  const first: Output[] = [];
  for await (const output of command) {
    first.push(output);
    break;
  }
  command.disconnect();
  using other = new Torpor({ socket: daemon.socket });
  const again = await (await other.get(sandbox.id)).attach(command.id, { after: first[0]?.seq ?? 0 });
  await again.write("hi\n");
  let text = first.map((output) => output.text).join("");
  for await (const output of again) {
    text += output.text;
    if (text.includes("got hi")) break;
  }
  expect(text).toBe(`${Array.from({ length: 20 }, (_, at) => at).join("\n")}\ngot hi\n`);
  await again.kill("TERM");
  expect(await again.wait()).toMatchObject({ exitCode: 143, signal: "SIGTERM" });
});

test("E12, E28: a command in the background is read on over a pause; one that is waited for tells of it", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const command = await sandbox.exec("echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; exit 4", { background: true });
  const waiting = command.wait({
    onStdout: async (text) => {
      if (text === "before\n") await sandbox.pause();
    },
  });
  await sandbox.waitFor({ state: "paused", timeoutMs: 60_000 });
  await sandbox.resume();
  await sandbox.files.write("go", "");
  expect(await waiting).toMatchObject({ stdout: "before\nafter\n", exitCode: 4 });

  const foreground = sandbox.exec("echo ready; sleep 600", { onStdout: () => sandbox.pause() });
  await expect(foreground).rejects.toMatchObject({ code: "session_paused", details: { sessionId: expect.stringMatching(/^se_/) } });
});

test("files: text, bytes, streams, and what they are not", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const { files } = sandbox;
  await files.write("/a/b", new Blob(["grüße"]), { parents: true, mode: 0o600 });
  expect(await files.read("/a/b")).toBe("grüße");
  expect(await files.stat("/a/b")).toMatchObject({ mode: 0o600 });
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  await files.write("/a/bytes", bytes);
  expect(await files.read("/a/bytes", { as: "bytes" })).toEqual(bytes);
  expect(await new Response(await files.read("/a/bytes", { as: "stream" })).bytes()).toEqual(bytes);
  await expect(files.read("/a/bytes")).rejects.toMatchObject({ code: "invalid_request", message: expect.stringContaining("not UTF-8") });
  expect(await files.read("/a/bytes", { invalid: "replace" })).toContain("\u{fffd}");
  await files.mkdir("/a/c");
  await files.move("/a/b", "/a/c/d");
  expect((await files.list("/a")).map(({ name }) => name)).toEqual(["bytes", "c"]);
  expect([await files.exists("/a/b"), await files.exists("/a/c/d")]).toEqual([false, true]);
  await files.remove("/a", { recursive: true });
  await expect(files.read("/a/bytes")).rejects.toBeInstanceOf(NotFound);
});

test("a watch tells what happens from when it began, and ends with its signal or with what it watches", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  await sandbox.files.mkdir("/src");
  const end = new AbortController();
  const seen: string[] = [];
  const changes = await sandbox.files.watch("/src", { signal: end.signal });
  await sandbox.files.write("/src/a", "x");
  for await (const { change, path } of changes) {
    seen.push(`${change} ${path}`);
    if (path === "/src/a") end.abort();
  }
  expect(seen).toContain("created /src/a");
  await expect(sandbox.files.watch("/nope")).rejects.toMatchObject({ code: "file_not_found" });
});

test("files of this machine go in and come out", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const here = await mkdtemp(join(tmpdir(), "torpor-sdk-copy-"));
  try {
    await writeFile(join(here, "f"), "content");
    await sandbox.files.upload(here, "/there");
    expect(await sandbox.files.read("/there/f")).toBe("content");
    await sandbox.files.download("/there", join(here, "back"));
    expect(await readFile(join(here, "back/f"), "utf8")).toBe("content");
  } finally {
    await rm(here, { recursive: true });
  }
});

test("forks, each with its own outcome; snapshots; a family", async () => {
  await using base = await torpor.create({ image: "debian", name: "forking" });
  await base.files.write("/who", "base");
  await using one = await base.fork({ name: "forked" });
  expect(one.name).toBe("forked");
  await one.files.write("/who", "one");
  expect(await base.files.read("/who")).toBe("base");
  await expect(torpor.fork("forking", { name: "forked" })).rejects.toMatchObject({ code: "name_taken" });
  const children = await base.forkMany({ names: ["f-a", "f-b"], labels: { of: "many" } });
  expect(children.map((child) => (child.error === null ? child.sandbox.record.labels : child.error))).toEqual([
    { of: "many" },
    { of: "many" },
  ]);
  for (const child of children) if (child.error === null) await child.sandbox.remove({ force: true });
  const snapshot = await base.snapshot({ name: "kept" });
  await using again = await torpor.create({ snapshot: "kept" });
  expect(again.record.snapshotId).toBe(snapshot.id);
  expect((await torpor.tree("forking")).map(({ name }) => name)).toContain("forked");
});

test("waits: for a state with progress, for a pause with a limit; events come as they happen", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  const end = new AbortController();
  const types: string[] = [];
  const listening = (async () => {
    for await (const { type } of sandbox.events({ after: 0, signal: end.signal })) {
      types.push(type);
      if (type === "sandbox.resumed") end.abort();
    }
  })();
  const seen: string[] = [];
  const { promise: looked, resolve } = Promise.withResolvers<void>();
  const waiting = sandbox.waitFor({
    state: "paused",
    timeoutMs: 60_000,
    onProgress: ({ state }) => {
      seen.push(state);
      resolve();
    },
  });
  await looked;
  await torpor.sandboxes.pauseAndWait(sandbox.id, { memory: true, timeoutMs: 360_000 });
  expect((await waiting).state).toBe("paused");
  expect(seen.at(0)).toBe("running");
  expect(seen.at(-1)).toBe("paused");
  expect(await torpor.sandboxes.resumeAndWait(sandbox.id, { memory: true, timeoutMs: 360_000 })).toMatchObject({ restored: "memory" });
  await listening;
  expect(types).toEqual(expect.arrayContaining(["sandbox.created", "sandbox.paused", "sandbox.resumed"]));
  await expect(sandbox.waitFor({ state: "stopped", timeoutMs: 50 })).rejects.toBeInstanceOf(TimedOut);
});

test("a terminal types, shows and is resized", async () => {
  await using sandbox = await torpor.create({ image: "debian" });
  await using terminal = await sandbox.terminal({ command: ["sh"], rows: 40, columns: 120 });
  await terminal.write("stty size; exit 5\n");
  const result = await terminal.wait();
  expect(result.stdout).toContain("40 120");
  expect(result.exitCode).toBe(5);
});
