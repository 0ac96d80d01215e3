import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { type RunOptions, torpor } from "./testing/torpor.ts";

let server: Server;
let home: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startServer({ tcp: true });
  home = await mkdtemp(join(tmpdir(), "torpor-home-"));
});
beforeEach(() => {
  env = { XDG_CONFIG_HOME: home, XDG_RUNTIME_DIR: home };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

const run = (args: string[], options: RunOptions = {}) => torpor(server, args, { ...options, env: { ...env, ...options.env } });
/** As on another computer: no socket is named. */
const away = (args: string[], options: RunOptions = {}) =>
  run(args, { ...options, env: { TORPOR_SOCKET: "", TORPOR_DATA: "", ...options.env } });

describe("a token", () => {
  test("is printed once, has what was asked for, and is revoked", async () => {
    const made = await run([
      "token",
      "create",
      "--name",
      "ci",
      "--scope",
      "sandbox:*",
      "--scope",
      "exec",
      "--team",
      "a",
      "--expires",
      "30d",
    ]);
    expect(made).toMatchObject({
      code: 0,
      text: expect.stringMatching(/^torpor_[a-z2-7]{32}\n$/),
      stderr: "made token ci: keep it, it is not shown again\n",
    });
    const { text } = await run(["token", "list"]);
    expect(text).toMatch(/^ID +NAME +TEAM +SCOPES +CREATED +EXPIRES\ntk_[a-z2-7]{16} +ci +a +sandbox:\*,exec +20\S+ +20\S+\n$/);
    expect(text).not.toContain(made.text.trim());
    expect(await run(["token", "create", "--name", "ci"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another token has the name ci"),
    });
    expect(await run(["token", "revoke", "ci", "nope"])).toMatchObject({
      code: 1,
      text: "ci\n",
      stderr: expect.stringContaining("there is no token nope"),
    });
    expect((await run(["token", "list", "--json"])).text).toBe("[]\n");
  });

  test.each([
    [["--scope", "everything"], /"everything" is no scope\. There are sandbox:read, /],
    [["--expires", "soon"], /"soon" is no duration/],
    [["--team", "a", "--all-teams"], /cannot be used with/],
    [["--name", "Not A Name"], /a name of a token has lower-case letters/],
  ])("is not made with %j", async (args, message) => {
    expect(await run(["token", "create", ...args])).toMatchObject({ code: 1, text: "", stderr: expect.stringMatching(message) });
  });
});

describe("open", () => {
  const signIn = (link: string) =>
    fetch(`${server.url}/v1/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: link.split("#code=")[1] }),
    });

  test("prints a link that signs in one browser, with the code where no log has it", async () => {
    await run(["create", "--name", "shown", "debian"]);
    const opened = await run(["open", "shown"]);
    const link = opened.text.trim();
    expect(link).toMatch(new RegExp(`^${server.url}/sandboxes/shown#code=[a-z2-7]{32}$`));
    expect((await signIn(link)).status).toBe(200);
    expect((await signIn(link)).status).toBe(401);
    expect((await run(["open"])).text).toMatch(new RegExp(`^${server.url}/#code=`));
    expect(await run(["open", "nope"])).toMatchObject({ code: 1, text: "", stderr: expect.stringContaining("there is no sandbox nope") });
  });

  test("hands the browser a file of its owner's, not the link", async () => {
    const bin = await mkdtemp(join(home, "bin-"));
    await writeFile(join(bin, "xdg-open"), `#!/bin/sh\necho "$@" >${bin}/asked.new\nmv ${bin}/asked.new ${bin}/asked\n`, { mode: 0o755 });
    expect(await run(["open", "--browser"], { env: { PATH: `${bin}:${process.env.PATH}` } })).toMatchObject({ code: 0, text: "" });
    const asked = await expect
      .poll(() => readFile(join(bin, "asked"), "utf8").catch(() => ""))
      .not.toBe("")
      .then(() => readFile(join(bin, "asked"), "utf8"));
    const file = asked.trim();
    expect(file).toMatch(/torpor-open-.+\/open\.html$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, "utf8")).toMatch(/content="0; url=http:\/\/127\.0\.0\.1:\d+\/#code=[a-z2-7]{32}"/);
  });

  test("says how to have a page where there is none", async () => {
    await using alone = await startServer();
    expect(await torpor(alone, ["open"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("hint: start it with torpor daemon start --listen auto"),
    });
  });
});

describe("a daemon elsewhere", () => {
  const token = async (...args: string[]) => (await run(["token", "create", ...args])).text.trim();

  test("is used after login, kept for its owner alone, left and forgotten", async () => {
    const secret = await token("--name", "laptop");
    const login = await away(["login", "--name", "there", server.url], { input: `${secret}\n` });
    expect(login).toMatchObject({ code: 0, text: "there\n", stderr: expect.stringContaining(`signed in at ${server.url}, with *`) });
    const file = join(home, "torpor", "contexts.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(home, "torpor"))).toEqual(["contexts.json"]);
    expect(await away(["create", "--name", "far", "debian"])).toMatchObject({ code: 0 });
    expect((await away(["open", "far"])).text).toMatch(new RegExp(`^${server.url}/sandboxes/far#code=`));
    expect((await away(["context", "list"])).text).toMatch(/^NAME +URL +CURRENT\nlocal +this host's socket\nthere +http:\S+ +\*\n$/);
    expect((await away(["context", "list"])).text).not.toContain(secret);
    // Whoever names a socket means the daemon there.
    expect((await run(["info", "--json"], { env: { TORPOR_SOCKET: server.socket } })).code).toBe(0);
    expect(await away(["context", "use", "local"])).toMatchObject({ code: 0 });
    const local = await away(["list"], { env: { TORPOR_DATA: "/nowhere" } });
    expect(local).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing listens on /nowhere/torpord.sock") });
    expect(await run(["inspect", "far"], { env: { TORPOR_SOCKET: "/nowhere/s", TORPOR_CONTEXT: "there" } })).toMatchObject({ code: 0 });
    expect(await away(["context", "use", "nope"])).toMatchObject({ code: 1, stderr: expect.stringContaining("there is no context nope") });
    expect(await away(["context", "remove", "there"])).toMatchObject({ code: 0, text: "there\n" });
    expect(await readFile(file, "utf8")).not.toContain(secret);
  });

  test("by the environment alone", async () => {
    const secret = await token("--scope", "sandbox:read");
    const TORPOR_URL = server.url;
    expect(await away(["list", "-q"], { env: { TORPOR_URL, TORPOR_TOKEN: secret } })).toMatchObject({ code: 0 });
    expect(await away(["create", "debian"], { env: { TORPOR_URL, TORPOR_TOKEN: secret } })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has not the scope sandbox:write, which POST \/v1\/sandboxes needs.*\nhint: make a token that has it/),
    });
    expect(await away(["list"], { env: { TORPOR_URL } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the call has no token"),
    });
  });

  test("is not kept when the token is wrong, empty or would go unencrypted", async () => {
    const wrong = await away(["login", server.url], { input: `torpor_${"a".repeat(32)}` });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the token is not known: it was revoked, or is mistyped\nhint: /),
    });
    expect(await away(["login", server.url], { input: "\n" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the token is empty"),
    });
    expect(await away(["login", "http://torpor.example"], { input: "x" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("without encryption"),
    });
    expect(await away(["login", "torpor.example"], { input: "x" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is no address of a daemon"),
    });
    expect((await away(["context", "list"])).text).toMatch(/^NAME +URL +CURRENT\nlocal +this host's socket +\*\n$/);
  });
});
