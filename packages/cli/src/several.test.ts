import { expect, test } from "vitest";
import { serverWithBase } from "./testing/server-with-base.ts";
import { torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const run = (...args: string[]) => torpor(server, args);

/** What is done to several: the failure in the middle is told last, and what comes after it is done. */
const each: readonly { what: string; made: readonly string[]; change: readonly string[]; none: string; code: string }[] = [
  {
    what: "kill",
    made: ["exec", "-d", "base", "sleep", "600"],
    change: ["kill", "base"],
    none: "se_aaaaaaaaaaaaaaaa",
    code: "session_not_found",
  },
  {
    what: "sessions stop",
    made: ["exec", "--supervise", "always", "base", "sleep", "600"],
    change: ["sessions", "stop", "base"],
    none: "se_aaaaaaaaaaaaaaaa",
    code: "session_not_found",
  },
  {
    what: "wake remove",
    made: ["wake", "add", "--after", "1h", "base"],
    change: ["wake", "remove", "base"],
    none: "wk_aaaaaaaaaaaaaaaa",
    code: "wake_not_found",
  },
  {
    what: "webhook pause",
    made: ["webhook", "create", "http://192.0.2.1/hook"],
    change: ["webhook", "pause"],
    none: "wh_aaaaaaaaaaaaaaaa",
    code: "webhook_not_found",
  },
];

test.each(each)(
  "$what: of several the failures are told last, as JSON too",
  async ({ made, change, none, code }) => {
    const [first, second] = (await Promise.all([run(...made), run(...made)])).map(({ text }) => text.split("\n")[0] ?? "") as [
      string,
      string,
    ];
    expect(await run(...change, none, first)).toMatchObject({
      code: 1,
      text: `${first}\n`,
      stderr: expect.stringMatching(new RegExp(`^torpor: .*${none}`)),
    });
    const several = await run(...change, "--json", none, second);
    expect([several.code, JSON.parse(several.text)]).toMatchObject([1, [{ id: none, error: { code } }, { id: second }]]);
  },
  60_000,
);

test("ports and files have no ids: their own names are told", async () => {
  const exposed = await run("port", "expose", "--json", "base", "8080", "8081");
  expect(JSON.parse(exposed.text)).toMatchObject([{ port: 8080 }, { port: 8081 }]);
  expect(await run("port", "remove", "base", "1", "8080")).toMatchObject({
    code: 1,
    text: "8080\n",
    stderr: expect.stringContaining("port 1 of sandbox base has no address"),
  });
  expect(JSON.parse((await run("port", "remove", "--json", "base", "8081")).text)).toEqual({ port: 8081 });

  expect(JSON.parse((await run("file", "mkdir", "--json", "base", "/a")).text)).toMatchObject({ name: "a", type: "directory" });
  expect(JSON.parse((await run("file", "move", "--json", "base", "/a", "/b")).text)).toMatchObject({ name: "b" });
  expect(JSON.parse((await run("file", "stat", "--json", "base", "/b")).text)).toMatchObject({ type: "directory" });
  const removed = await run("file", "remove", "--json", "-r", "base", "/nope", "/b");
  expect([removed.code, JSON.parse(removed.text)]).toMatchObject([1, [{ error: { code: "file_not_found" } }, { path: "/b" }]]);
}, 60_000);
