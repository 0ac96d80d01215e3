import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addedTo } from "./follow-log.ts";
import { firstLine } from "./testing/first-line.ts";
import { type Server, startServer } from "./testing/server.ts";
import { launch, outcome, torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);
const said = (child: ReturnType<typeof launch>) => firstLine(child.stdout as Readable);
const names = async () => (await run("list", "--format", "{name}")).text;

test("run makes a sandbox, gives the command's streams and code, and leaves nothing", async () => {
  expect(await run("run", "debian", "sh", "-c", "echo b; echo err >&2; exit 7")).toMatchObject({
    code: 7,
    text: "b\n",
    stderr: "err\n",
  });
  expect(await torpor(server, ["run", "-i", "debian", "cat"], { input: "hi" })).toMatchObject({ code: 0, text: "hi" });
  expect(await run("run", "debian", "nosuch")).toMatchObject({ code: 127, stderr: expect.stringContaining("nosuch") });
  expect(await names()).toBe("");
});

test("run: 125 when Torpor fails, with words for what there is not", async () => {
  expect(await run("run", "nothere", "true")).toMatchObject({ code: 125, stderr: expect.stringContaining("nothere") });
  expect(await run("run", "debian")).toMatchObject({ code: 125, stderr: expect.stringContaining("no command was given") });
  expect(await run("run", "-v", "/src:/src", "debian", "ls")).toMatchObject({
    code: 125,
    stderr: expect.stringMatching(/-v is not supported\nhint: .*torpor cp/),
  });
  expect(await torpor(server, ["run", "-it", "debian", "sh"])).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("not a terminal"),
  });
  expect(await names()).toBe("");
});

test("run removes its sandbox when it is interrupted, and when its reader has gone; --keep keeps it", async () => {
  const interrupted = launch(server, ["run", "debian", "sh", "-c", "echo ready; exec sleep 600"]);
  await said(interrupted);
  interrupted.kill("SIGINT");
  expect((await outcome(interrupted)).code).toBe(130);
  const left = launch(server, ["run", "debian", "yes"]);
  await said(left);
  left.stdout?.destroy();
  const [code] = (await once(left, "close")) as [number];
  expect(code).toBe(141);
  expect(await names()).toBe("");
  expect(await run("run", "--keep", "--name", "kept", "debian", "true")).toMatchObject({ code: 0, stderr: "sandbox kept goes on\n" });
  expect(await names()).toBe("kept\n");
  await run("remove", "--force", "kept");
});

test("watch tells of each change, and ends by a signal", async () => {
  const child = launch(server, ["watch", "--json"]);
  const closed = once(child, "close");
  const lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
  const until = async (fits: (line: string) => boolean) => {
    for (let line = await lines.next(); ; line = await lines.next()) {
      if (line.done === true) throw new Error("it ended");
      if (fits(line.value)) return;
    }
  };
  await until((line) => line === "[]");
  await run("create", "--name", "seen", "debian");
  await until((line) => line.includes('"seen"') && line.includes('"running"'));
  await run("pause", "seen");
  await until((line) => line.includes('"paused"'));
  child.kill("SIGTERM");
  await closed;
  await run("remove", "--force", "seen");
});

test("files of a sandbox are written, read, listed and removed; several with failures last", async () => {
  await run("create", "--name", "files", "debian");
  expect(await torpor(server, ["file", "write", "-p", "--mode", "600", "files", "/d/a b"], { input: "grüße" })).toMatchObject({
    code: 0,
    text: "",
  });
  expect(await run("file", "read", "files", "/d/a b")).toMatchObject({ code: 0, text: "grüße" });
  expect(JSON.parse((await run("file", "stat", "files", "/d/a b")).text)).toMatchObject({ mode: 0o600, size: 7 });
  expect(await run("file", "mkdir", "files", "/d/c", "/d/c", "/d/e")).toMatchObject({ code: 1, text: "/d/c\n/d/e\n" });
  expect((await run("file", "move", "files", "/d/a b", "/d/c/f")).code).toBe(0);
  expect((await run("file", "list", "-q", "files", "/d")).text).toBe("/d/c\n/d/e\n");
  expect((await run("file", "list", "files", "/d/c")).text).toMatch(
    /^MODE +OWNER +SIZE +MODIFIED +PATH\n-0600 +root:root +7 +\S+ +\/d\/c\/f\n$/,
  );
  expect(await run("file", "remove", "-r", "files", "/d", "/nope")).toMatchObject({
    code: 1,
    text: "/d\n",
    stderr: expect.stringContaining("/nope"),
  });
  expect(await run("file", "list", "files", "/d")).toMatchObject({ code: 1, text: "", stderr: expect.stringContaining("/d") });
  await run("remove", "--force", "files");
});

test("operations are listed, got, and refuse to be given up when they have ended", async () => {
  await run("create", "--name", "ops", "debian");
  await run("pause", "ops");
  const listed = await run("operation", "list", "--format", "{kind} {status}", "ops");
  expect(listed.text).toBe("pause succeeded\ncreate succeeded\n");
  const [id = ""] = (await run("operation", "list", "-q", "ops")).text.split("\n");
  expect(JSON.parse((await run("operation", "get", id)).text)).toMatchObject({ id, kind: "pause" });
  expect(await run("operation", "cancel", id)).toMatchObject({ code: 1, stderr: expect.stringContaining("has succeeded already") });
  await run("remove", "--force", "ops");
});

test.each([
  [["creat", "debian"], "Did you mean create?"],
  [["list", "--stat", "paused"], "Did you mean --state?"],
  [["snapshot", "lst"], "Did you mean one of list, ls?"],
] as const)("%j is refused with the nearest that there is", async (args, hint) => {
  expect(await run(...args)).toMatchObject({ code: 1, text: "", stderr: expect.stringContaining(hint) });
});

test("of a log that is cut at its start what was added is found", () => {
  expect(addedTo("", "a\nb\n")).toBe("a\nb\n");
  expect(addedTo("a\nb\n", "a\nb\nc\n")).toBe("c\n");
  expect(addedTo(`${"x".repeat(5000)}end\n`, `${"x".repeat(4500)}end\nnew\n`)).toBe("new\n");
  expect(addedTo("gone\n", "other\n")).toBe("other\n");
});
