import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LastingEvent, type LastingSession, Torpor, TorporClient } from "./index.ts";
import { CuttingProxy } from "./testing/cutting-proxy.ts";
import { startDaemon } from "./testing/daemon.ts";

let daemon: Awaited<ReturnType<typeof startDaemon>>;
let proxy: CuttingProxy;
let client: TorporClient;
beforeAll(async () => {
  daemon = await startDaemon();
  await daemon.client.create({ image: "debian", name: "base" });
  proxy = await CuttingProxy.open(daemon.socket);
  client = new TorporClient({ socket: proxy.socket });
});
afterAll(async () => {
  client.close();
  await proxy[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

interface Read {
  text: string;
  last: LastingEvent | undefined;
}

async function read(session: LastingSession, each: (text: string) => void = () => {}): Promise<Read> {
  const read: Read = { text: "", last: undefined };
  for await (const event of session) {
    read.last = event;
    if (event.type !== "output") continue;
    read.text += Buffer.from(event.data).toString();
    each(read.text);
  }
  return read;
}

test("Y04: output comes once and in order over ten cuts", async () => {
  const { id } = await daemon.client.startSession("base", {
    // A line is written when the one before it is answered: each comes by itself, however busy the machine is.
    argv: ["sh", "-c", "seq 1 10000; for i in $(seq 10); do echo cut $i; read x; seq 1 1000; done; exit 5"],
    stdin: true,
  });
  const before = proxy.cuts;
  const session = client.lastingSession("base", id);
  let answered = 0;
  const { text, last } = await read(session, (so) => {
    if (!so.includes(`cut ${answered + 1}\n`)) return;
    answered++;
    proxy.cut();
    void session.write(Buffer.from("on\n"));
  });
  expect(proxy.cuts - before).toBe(10);
  const numbers = (count: number) => Array.from({ length: count }, (_, at) => `${at + 1}\n`).join("");
  expect(text).toBe(numbers(10_000) + Array.from({ length: 10 }, (_, at) => `cut ${at + 1}\n${numbers(1000)}`).join(""));
  expect(last).toMatchObject({ type: "end", end: { reason: "exited", exitCode: 5 } });
});

test("Y09: input that is cut at random, in the middle of frames too, arrives once and whole", async () => {
  const { id } = await daemon.client.startSession("base", { argv: ["sha256sum"], stdin: true });
  const session = client.lastingSession("base", id);
  const reading = read(session);
  const paste = randomBytes(1_500_000);
  for (let at = 0; at < paste.length; at += 100_000) {
    const cut = proxy.cutAfter(10_000 + (randomBytes(3).readUIntBE(0, 3) % 80_000));
    await session.write(paste.subarray(at, at + 100_000));
    await cut;
  }
  session.end();
  const { text } = await reading;
  expect(text.split(" ")[0]).toBe(createHash("sha256").update(paste).digest("hex"));
});

test("Y07: an end is an end: nobody comes back after it, nor after a take-over", async () => {
  const { id } = await daemon.client.startSession("base", { argv: ["sleep", "600"] });
  const first = client.lastingSession("base", id);
  const reading = read(first);
  const iterator = client.lastingSession("base", id, { takeover: true })[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toMatchObject({ type: "started" });
  expect((await reading).last).toEqual({ type: "kicked" });
  await daemon.client.removeSession("base", id, { force: true });
  const gone = await read(client.lastingSession("base", id));
  expect(gone.last).toMatchObject({ type: "failed", error: { code: "session_not_found" } });
});

test("output that is no longer kept is a gap, and what is kept comes after it", async () => {
  const { id } = await daemon.client.startSession("base", {
    argv: ["sh", "-c", "for i in 1 2 3 4; do head -c 5000 /dev/zero; sleep 0.02; done; echo END"],
    journalBytes: 8192,
  });
  await read(client.lastingSession("base", id, { mode: "read" }));
  const events: LastingEvent[] = [];
  for await (const event of client.lastingSession("base", id, { mode: "read" })) events.push(event);
  const { firstSeq } = await daemon.client.session("base", id);
  expect(events[0]).toEqual({ type: "gap", after: 0, oldest: firstSeq });
  expect(events.find(({ type }) => type === "output")).toMatchObject({ seq: firstSeq });
  expect(events.at(-1)).toMatchObject({ type: "end" });
});

test("the part that a browser runs too imports nothing of Node.js", async () => {
  const seen = new Set<string>();
  const look = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = await readFile(new URL(file, import.meta.url), "utf8");
    const imports = [...text.matchAll(/^(?:import|export) (?!type)[^;]* from "([^"]+)"/gm)].map(([, from]) => from as string);
    expect(imports.filter((from) => !/^(\.\/|@torpor\/contract\/(error|frame)$)/.test(from))).toEqual([]);
    for (const from of imports) if (from.startsWith("./")) await look(from);
  };
  await look("./lasting-session.ts");
  expect(seen).toContain("./session-protocol.ts");
});

test("Y09: a command's and a terminal's own input is typed once too, over cuts in the middle of frames, and over a pause", async () => {
  const torpor = new Torpor({ socket: proxy.socket });
  const sandbox = await torpor.get("base");
  const command = await sandbox.exec(["sha256sum"], { background: true, stdin: true });
  const paste = randomBytes(1_500_000);
  for (let at = 0; at < paste.length; at += 100_000) {
    const cut = proxy.cutAfter(10_000 + (randomBytes(3).readUIntBE(0, 3) % 80_000));
    await command.write(paste.subarray(at, at + 100_000));
    await cut;
  }
  await command.closeStdin();
  expect((await command.wait()).stdout.split(" ")[0]).toBe(createHash("sha256").update(paste).digest("hex"));

  const terminal = await sandbox.terminal({ command: ["sh", "-c", "stty -echo; echo ready; cat >typed"] });
  for await (const { text } of terminal) if (text.includes("ready")) break;
  await terminal.write("one\n");
  await daemon.client.pause("base");
  // It waits for the resume if the pause was not seen yet, and else nothing of it is typed.
  const refused = await terminal.write("two\n").catch((error: { readonly code: string }) => error.code);
  expect([undefined, "sandbox_not_running"]).toContain(refused);
  await daemon.client.resume("base");
  if (refused !== undefined) await terminal.write("two\n");
  proxy.cut();
  await terminal.write("three\n");
  await terminal.closeStdin();
  expect((await terminal.wait()).exitCode).toBe(0);
  expect(await sandbox.files.read("typed")).toBe("one\ntwo\nthree\n");
  torpor.close();
});

test("Y09: the input of exec is typed once over cuts too, and one whose source fails is not taken for a whole one", async () => {
  const torpor = new Torpor({ socket: proxy.socket });
  const sandbox = await torpor.get("base");
  const paste = randomBytes(3_000_000);
  const before = proxy.cuts;
  void proxy.cutAfter(100_000, 400_000, 1_200_000);
  const both = await sandbox.exec("tee typed | sha256sum; sha256sum <typed", { stdin: paste });
  expect(proxy.cuts - before).toBe(3);
  const digest = createHash("sha256").update(paste).digest("hex");
  expect(both.stdout.split("\n").map((line) => line.split(" ")[0])).toEqual([digest, digest, ""]);

  // More than any buffer on the way holds, written while it is read.
  const large = Buffer.alloc(12_000_000, paste);
  expect((await sandbox.exec(["cat"], { stdin: large, outputLimitBytes: large.length })).stdout).toBe(large.toString());
  expect((await sandbox.exec("exec head -c 3 | wc -c", { stdin: large })).stdout.trim()).toBe("3");

  async function* broken() {
    yield Buffer.from("begun");
    throw new Error("the source is gone");
  }
  await expect(sandbox.exec("cat >partly; touch whole", { stdin: broken() })).rejects.toThrow("the source is gone");
  const names = (await sandbox.files.list("/")).map(({ name }) => name);
  expect([names.includes("typed"), names.includes("whole")]).toEqual([true, false]);
  torpor.close();
});
