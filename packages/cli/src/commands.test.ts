import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);

test("the sequence of a sandbox that is paused, resumed and forked", async () => {
  const created = await run("create", "--name", "base", "--memory", "512MiB", "python:3.12");
  expect(created).toMatchObject({ code: 0, text: expect.stringMatching(/^sb_[a-z2-7]{16}\n$/), stderr: "created sandbox base\n" });
  expect(await run("pause", "base")).toMatchObject({
    code: 0,
    text: "base\n",
    stderr: expect.stringMatching(/^paused base: .+ of memory released, checkpoint of .+\n$/),
  });
  expect((await run("list")).text).toMatch(/^ID +NAME +IMAGE +STATE +UPTIME +MEMORY\nsb_\w+ +base +python:3\.12 +paused +- +512 MiB\n$/);
  expect(await run("exec", "base", "true")).toMatchObject({
    code: 1,
    text: "",
    stderr: "torpor: sandbox base is paused: resume it with torpor resume base\n",
  });
  expect(await run("pause", "base")).toMatchObject({ code: 1, stderr: expect.stringContaining("base is paused already") });
  expect(await run("resume", "base")).toMatchObject({ code: 0, text: "base\n", stderr: "" });
  const forked = await run("fork", "--name", "try-a", "base");
  expect(forked).toMatchObject({ code: 0, stderr: "forked base into try-a\n" });
  expect((await run("inspect", "try-a")).text).toContain(`"id": "${forked.text.trim()}"`);
  expect((await run("fork", "--count", "2", "--name", "w", "base")).text.trim().split("\n")).toHaveLength(2);
  expect((await run("list", "-q")).text.trim().split("\n")).toHaveLength(4);
  const removed = await run("remove", "--force", "try-a", "nope", "w-1", "w-2", "base");
  expect(removed).toMatchObject({
    code: 1,
    text: "try-a\nw-1\nw-2\nbase\n",
    stderr: "torpor: there is no sandbox nope\nhint: torpor list shows what there is\n",
  });
});

test("a sandbox's labels are set and taken away", async () => {
  await run("create", "--name", "labelled", "--label", "step=1", "debian");
  expect(await run("label", "labelled", "owner=me", "step-")).toMatchObject({ code: 0, text: "labelled\n", stderr: "" });
  expect(JSON.parse((await run("inspect", "labelled")).text)).toMatchObject({ labels: { owner: "me" } });
  expect(JSON.parse((await run("label", "--json", "labelled", "step=a=b")).text)).toMatchObject({ labels: { owner: "me", step: "a=b" } });
  for (const [change, message] of [
    ["step", /"step" is no change of a label/],
    ["=1", /"=1" is no label/],
    [`${"x".repeat(64)}=1`, /labels/],
    [`step=${"x".repeat(256)}`, /labels.step: .*255/],
  ] as const) {
    expect(await run("label", "labelled", change)).toMatchObject({ code: 1, text: "", stderr: expect.stringMatching(message) });
  }
  expect(await run("label", "nope", "a=b")).toMatchObject({ code: 1, stderr: expect.stringContaining("no sandbox nope") });
  await run("remove", "--force", "labelled");
});

test("a family: children with names and settings of their own, and a removed parent", async () => {
  await run("create", "--name", "old", "debian");
  const forked = await run("fork", "--name", "one", "--name", "two", "--label", "plan=b", "-e", "TRY=2", "old");
  expect(forked).toMatchObject({ code: 0, stderr: "forked old into one\nforked old into two\n" });
  expect(JSON.parse((await run("inspect", "two")).text)).toMatchObject({
    labels: { plan: "b" },
    env: { TRY: "2" },
    fork: { index: 2, count: 2 },
  });
  expect(await run("fork", "--name", "three", "--name", "two", "old")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("another sandbox has the name two"),
  });
  await run("remove", "--force", "old");
  const drawn = /^old {2}gone\n├── one {2}running {2}child 1 of 2, forked \S+\n└── two {2}running {2}child 2 of 2, forked \S+\n$/;
  expect(await run("tree", "one")).toMatchObject({ code: 0, text: expect.stringMatching(drawn) });
  expect(JSON.parse((await run("tree", "--json", "one")).text)).toMatchObject([
    { name: "old", state: "gone" },
    { name: "one" },
    { name: "two" },
  ]);
  await run("remove", "--force", "one", "two");
});

test("a resume that brought files only says so on stderr", async () => {
  await run("create", "--name", "files", "debian");
  expect(await run("pause", "--files-only", "files")).toMatchObject({ code: 0, stderr: expect.stringContaining("files only") });
  expect(await run("resume", "files")).toMatchObject({ code: 0, stderr: expect.stringMatching(/came back with its files only.*: .+\n$/) });
  expect(await run("stop", "--grace", "1s", "files")).toMatchObject({ code: 0, text: "files\n" });
  expect(await run("fork", "files")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("sandbox files is stopped: fork takes a running sandbox"),
  });
  expect(await run("exec", "files", "true")).toMatchObject({
    code: 1,
    stderr: "torpor: sandbox files is stopped: start it with torpor start files\n",
  });
  expect(await run("start", "files")).toMatchObject({ code: 0, text: "files\n" });
  expect(await run("remove", "files")).toMatchObject({ code: 1, stderr: expect.stringContaining("files is running") });
});

describe("--json prints one value or nothing", () => {
  test("of records, operations and failures", async () => {
    await run("create", "--name", "j", "debian");
    expect(JSON.parse((await run("list", "--json")).text)).toEqual(expect.arrayContaining([expect.objectContaining({ name: "j" })]));
    expect(JSON.parse((await run("pause", "--json", "j")).text)).toMatchObject({
      operation: { kind: "pause" },
      sandbox: { state: "paused" },
    });
    expect(await run("pause", "--json", "j")).toMatchObject({ code: 1, text: "" });
    const several = await run("resume", "--json", "j", "nope");
    expect(several.code).toBe(1);
    expect(JSON.parse(several.text)).toMatchObject([
      { operation: { kind: "resume" } },
      { id: "nope", error: { code: "sandbox_not_found" } },
    ]);
    expect(JSON.parse((await run("info", "--json")).text)).toMatchObject({ version: "0.0.0-test" });
    expect(JSON.parse((await run("image", "list", "--json")).text)).toEqual(expect.any(Array));
  });
});

describe("bad input is refused with a clear error and changes nothing", () => {
  const bad: [string, string[], RegExp][] = [
    ["an unknown image", ["create", "--name", "x", "nothere"], /torpor: .*nothere/],
    ["a malformed name", ["create", "--name", "Bad", "debian"], /name: .*lower-case/],
    ["too little memory", ["create", "--name", "x", "--memory", "1MiB", "debian"], /memory/],
    ["more memory than the node has", ["create", "--name", "x", "--memory", "100TiB", "debian"], /memory/],
    ["a size that is none", ["create", "--memory", "12zz", "debian"], /"12zz" is no size/],
    ["a duration that is none", ["exec", "--timeout", "5", "x", "true"], /"5" is no duration/],
    [
      "a variable that is none",
      ["create", "--name", "x", "-e", "1=2", "debian"],
      /env\.1: an environment variable's name has letters, digits and _/,
    ],
    ["an unknown sandbox", ["exec", "nope", "true"], /there is no sandbox nope/],
    ["no command", ["exec", "nope"], /missing required argument 'command'/],
    ["an unknown command", ["frobnicate"], /unknown command 'frobnicate'/],
    ["an unknown option", ["list", "--frob"], /unknown option '--frob'/],
    ["no socket there", ["--socket", "/nowhere/s", "list"], /torpord is not running.*\nhint: start it with torpor daemon start/],
    ["a socket's path that is too long", ["--socket", `/${"x".repeat(120)}`, "list"], /longer than 107 bytes/],
  ];
  test.each(bad)("%s", async (_title, args, message) => {
    const result = await run(...args);
    expect(result).toMatchObject({ code: 1, text: "" });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toMatch(/\n {4}at |\.ts:/);
    expect((await run("inspect", "x")).code).toBe(1);
  });
});

test("images are listed, pulled with progress, removed and pruned", async () => {
  expect(await run("image", "pull", "alpine")).toMatchObject({ code: 0, text: expect.stringMatching(/^sha256:/) });
  expect((await run("image", "ls")).text).toMatch(/alpine/);
  expect(await run("image", "remove", "alpine", "nope")).toMatchObject({
    code: 1,
    text: "alpine\n",
    stderr: expect.stringContaining("nope"),
  });
  expect(await run("image", "pull", "nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("nope") });
  expect((await run("image", "prune")).code).toBe(0);
});

test("help, version and the absence of a daemon", async () => {
  expect(await run("--help")).toMatchObject({ code: 0, text: expect.stringContaining("pause [options] <sandbox...>") });
  expect(await run("exec", "--help")).toMatchObject({ code: 0, text: expect.stringContaining("Examples:") });
  expect((await run("version")).text).toBe("torpor 0.1.0\ntorpord 0.0.0-test\n");
  expect(await torpor({ socket: "/nowhere/s" }, ["--version"])).toMatchObject({ code: 0, text: "0.1.0\n", stderr: "" });
  expect(await torpor({ socket: "/nowhere/s" }, ["version"])).toMatchObject({ code: 0, text: "torpor 0.1.0\ntorpord not running\n" });
  expect(await torpor({ socket: "/nowhere/s" }, ["daemon", "status", "--json"])).toMatchObject({
    code: 1,
    text: expect.stringContaining('"running": false'),
  });
  expect(await torpor({ socket: "/nowhere/s" }, ["daemon", "stop", "--data", "/nowhere"])).toMatchObject({
    code: 0,
    stderr: "torpord is not running\n",
  });
});
