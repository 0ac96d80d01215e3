import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { serverWithBase } from "./testing/server-with-base.ts";
import { launch, outcome, torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const run = (...args: string[]) => torpor(server, args);

test("events are printed, all of them or those asked for", async () => {
  await run("pause", "base");
  await run("create", "--name", "other", "debian");
  const all = await run("events");
  expect(all.code).toBe(0);
  expect(all.text.split("\n").map((line) => line.split(" ")[3] ?? "")).toEqual([
    "sandbox.created",
    "sandbox.paused",
    "sandbox.created",
    "",
  ]);
  expect(all.text).toMatch(/^1 20\S+Z sb_\w{16} sandbox\.created \{"name":"base",.*\}\n2 /);
  expect((await run("events", "base", "--type", "sandbox.paused", "--type", "memory_lost")).text).toMatch(/^2 .*\n$/);
  const json = await run("events", "--after", "1", "--json");
  expect(
    json.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).seq),
  ).toEqual([2, 3]);
  for (const [args, message] of [
    [["events", "nope"], /there is no sandbox nope/],
    [["events", "--after", "-1"], /is no number of an event/],
    [["events", "--after", "999"], /the newest event has the number 3/],
    [["events", "--type", "Nope"], /a type of events looks like/],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 1, text: "", stderr: expect.stringMatching(message) });
});

test("events are followed until the command is ended", async () => {
  const child = launch(server, ["events", "-f", "--after", "0", "--json", "base"]);
  const ended = outcome(child);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const seen: string[] = [];
  for await (const line of lines) {
    seen.push(JSON.parse(line).type);
    if (seen.length === 2) void run("resume", "base");
    if (seen.length === 3) break;
  }
  const exit = once(child, "exit");
  child.kill("SIGINT");
  expect(await exit).toEqual([null, "SIGINT"]);
  expect(seen).toEqual(["sandbox.created", "sandbox.paused", "sandbox.resumed"]);
  expect((await ended).stderr).toBe("");
});

test("webhooks by command: made with a secret that is shown once, looked at, ended", async () => {
  const made = await run("webhook", "create", "--type", "sandbox.*", "--label", "team=a", "http://127.0.0.1:1/");
  expect(made).toMatchObject({ code: 0, stderr: "keep the secret: it is not shown again\n" });
  const [id = "", secret = ""] = made.text.split("\n");
  expect(id).toMatch(/^wh_\w{16}$/);
  expect(secret).toMatch(/^whsec_/);
  const given = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
  const own = await torpor(server, ["webhook", "create", "--secret-stdin", "--json", "http://127.0.0.1:1/"], { input: `${given}\n` });
  expect(JSON.parse(own.text)).toMatchObject({ secret: given, webhook: { types: ["*"] } });
  expect((await run("webhook", "list")).text).toMatch(
    /^ID +STATE +URL +TYPES +PENDING +DEAD\nwh_\w+ +enabled +http:\/\/127\.0\.0\.1:1\/ +sandbox\.\* +0 +0\n/,
  );
  expect(JSON.parse((await run("webhook", "inspect", id)).text)).toMatchObject({ id, labels: { team: "a" } });
  expect(await run("webhook", "pause", id)).toMatchObject({ code: 0, text: `${id}\n` });
  expect(await run("webhook", "enable", id)).toMatchObject({ code: 0, text: `${id}\n` });
  expect(await run("webhook", "test", id)).toMatchObject({ code: 1, stderr: expect.stringMatching(/not delivered: .*ECONNREFUSED/) });
  expect((await run("webhook", "deliveries", id)).text).toMatch(/^ID +SANDBOX/);
  for (const answer of [await run("webhook", "list", "--json"), await run("webhook", "inspect", id)])
    expect(answer.text).not.toContain("whsec_");
  expect(await run("webhook", "remove", id, "wh_aaaaaaaaaaaaaaaa")).toMatchObject({
    code: 1,
    text: `${id}\n`,
    stderr: expect.stringContaining("there is no webhook wh_aaaaaaaaaaaaaaaa"),
  });
  for (const [args, message] of [
    [["webhook", "create", "nowhere"], /an address looks like/],
    [["webhook", "create", "http://169.254.169.254/"], /webhooks may not be sent to 169\.254\.169\.254.*\nhint: .*--webhook-allow/],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 1, text: "", stderr: expect.stringMatching(message) });
});
