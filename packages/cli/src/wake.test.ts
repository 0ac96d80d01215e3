import { expect, test } from "vitest";
import { serverWithBase } from "./testing/server-with-base.ts";
import { torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const run = (...args: string[]) => torpor(server, args);

test("wakes are added, listed and revoked", async () => {
  const after = await run("wake", "add", "--after", "2h", "--label", "look", "base");
  expect(after).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^wk_[a-z2-7]{16}\n$/),
    stderr: expect.stringMatching(/^wakes at 2.+Z\n$/),
  });
  expect(await run("wake", "add", "--cron", "0 * * * *", "--timezone", "Europe/Berlin", "base")).toMatchObject({ code: 0 });
  const url = await run("wake", "add", "--url", "--signed", "base");
  expect(url.text).toMatch(/^\/v1\/wake\/[a-z2-7]{32}\n$/);
  expect(url.stderr).toMatch(/^wake wk_\w+: the address is told this once\nsecret: [a-z2-7]{32}\n$/);
  const { text } = await run("wake", "list", "base");
  expect(text).toMatch(
    /^ID +KIND +NEXT +LAST +LABEL\nwk_\w+ +at +2.+Z +- +look\nwk_\w+ +0 \* \* \* \* \(Europe\/Berlin\) +2.+Z .*\nwk_\w+ +url, signed +- +- +-\n$/,
  );
  expect(text).not.toContain(url.text.trim().slice("/v1/wake/".length));
  expect(await run("wake", "remove", "base", after.text.trim())).toMatchObject({ code: 0, text: after.text });
  expect((await run("wake", "list", "base")).text).not.toContain(after.text.trim());
});

test.each([
  [["--at", "2020-01-01T00:00:00Z"], /in the past/],
  [["--at", "soon"], /is no time/],
  [["--cron", "rubbish"], /can't be read/],
  [[], /one of at/],
])("add %j is refused", async (args, message) => {
  expect(await run("wake", "add", ...args, "base")).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
});
