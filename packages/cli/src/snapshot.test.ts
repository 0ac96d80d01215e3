import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server[Symbol.asyncDispose]());

const run = (...args: string[]) => torpor(server, args);

test("a snapshot is made, listed and used", async () => {
  await run("create", "--name", "base", "debian");
  const made = await run("snapshot", "create", "--name", "warm", "--label", "step=1", "--expires", "7d", "base");
  expect(made).toMatchObject({ code: 0, text: expect.stringMatching(/^sn_[a-z2-7]{16}\n$/), stderr: "kept base as snapshot warm\n" });
  expect((await run("snapshot", "list")).text).toMatch(
    /^ID +NAME +OF +KEEPS +MEMORY +AGE +EXPIRES\nsn_\w+ +warm +base +memory +\S+ B +\S+ +in 6d23h\n$/,
  );
  expect(await run("snapshot", "list", "-q")).toMatchObject({ text: made.text });
  expect(await run("create", "--snapshot", "warm", "--name", "try", "--count", "2")).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^(sb_\w+\n){2}$/),
    stderr: "created sandbox try-1\ncreated sandbox try-2\n",
  });
  await run("pause", "try-1");
  expect(await run("snapshot", "restore", "try-1", "warm")).toMatchObject({
    code: 0,
    text: "try-1\n",
    stderr: "restored try-1 to warm: it is paused, torpor resume try-1 goes on with its memory\n",
  });
});

test("a snapshot's labels and pin are changed, and it is removed", async () => {
  await run("create", "--name", "source", "debian");
  const made = await run("snapshot", "create", "--name", "cold", "--files-only", "--label", "step=1", "source");
  expect(await run("snapshot", "label", "cold", "owner=me", "step-")).toMatchObject({ code: 0, text: made.text });
  expect(await run("snapshot", "pin", "cold")).toMatchObject({ code: 0, text: "cold\n" });
  expect(JSON.parse((await run("snapshot", "inspect", "cold")).text)).toMatchObject({ labels: { owner: "me" }, pinned: true });
  expect((await run("snapshot", "ls")).text).toContain("pinned");
  expect(await run("snapshot", "remove", "cold")).toMatchObject({
    code: 1,
    stderr: "torpor: snapshot cold is pinned\nhint: torpor snapshot unpin cold\n",
  });
  expect(await run("snapshot", "unpin", "--expires", "1h", "cold")).toMatchObject({ code: 0, text: "cold\n" });
  expect(await run("snapshot", "rm", "cold", "nope")).toMatchObject({
    code: 1,
    text: "cold\n",
    stderr: expect.stringContaining("no snapshot nope"),
  });
});

test("a rebase fetches the image, says what is kept, and is taken back", async () => {
  await run("create", "--name", "old", "debian");
  await run("stop", "old");
  expect(await run("rebase", "old", "alpine")).toMatchObject({
    code: 0,
    text: "old\n",
    stderr: expect.stringMatching(/rebased old: what was before is kept as snapshot old-before-[a-z2-7]{16} until 2\d{3}-.*\n$/),
  });
  expect(await run("rebase", "--rollback", "old")).toMatchObject({ code: 0, stderr: "took the rebase of old back\n" });
  expect(await run("rebase", "--rollback", "old")).toMatchObject({ code: 1, stderr: expect.stringContaining("taken back already") });
});

test.each([
  [["create", "--name", "x"], /either image or snapshot is needed/],
  [["create", "--snapshot", "nope"], /no snapshot nope/],
  [["create", "--snapshot", "nope", "debian"], /not both/],
  [["create", "--count", "2", "debian"], /count and memory are for a create from a snapshot/],
  [["snapshot", "create", "--expires", "soon", "base"], /"soon" is no duration/],
  [["snapshot", "label", "warm", "step"], /"step" is no change of a label/],
  [["snapshot", "inspect", "nope"], /no snapshot nope/],
  [["rebase", "old"], /either an image or --rollback is needed/],
  [["rebase", "--rollback", "old", "debian"], /and not both/],
])("%j is refused", async (args, message) => {
  const { code, text, stderr } = await run(...args);
  expect({ code, text }).toEqual({ code: 1, text: "" });
  expect(stderr).toMatch(message);
});
