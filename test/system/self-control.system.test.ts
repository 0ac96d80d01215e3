import { expect, test } from "vitest";
import { cycle } from "./harness/cycle.ts";
import { Follower } from "./harness/follow.ts";
import { eventually, inside, output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();

test("a process pauses its own sandbox, and goes on with exit code 0 when it is resumed", async () => {
  const name = await startSandbox(client, { selfControl: ["pause"] });
  const { id } = await client.get(name);
  expect(await output(client, name, "torpor whoami")).toBe(`${id} ${name}`);
  const { id: session } = await client.startSession(name, {
    argv: ["sh", "-c", "echo before; torpor pause; echo after $?; torpor whoami --json"],
  });
  await eventually(
    () => client.get(name),
    ({ state }) => state === "paused",
  );
  expect((await client.operations(name))[0]).toMatchObject({ kind: "pause", actor: "self", status: "succeeded" });
  await client.resume(name, { memory: "require" });
  const said = new Follower(await client.attach(name, session));
  await said.finished;
  expect(said.text).toBe(`before\nafter 0\n{"id":"${id}","name":"${name}","generation":2}\n`);
  expect(said.end).toMatchObject({ reason: "exited", exitCode: 0 });
  // It was asked for once: nothing pauses it again.
  expect((await client.operations(name)).map(({ kind }) => kind)).toEqual(["resume", "pause", "create"]);
  const denied = await inside(client, name, "torpor fork -n 2");
  expect([denied.end.exitCode, denied.stderr]).toEqual([
    1,
    `torpor: the processes of sandbox ${name} may not fork it\nhint: create it with --self-control fork\n`,
  ]);
  expect((await inside(client, name, "torpor pause now")).end.exitCode).toBe(2);
  expect((await inside(client, name, "setpriv --reuid=1000 --clear-groups torpor whoami")).stdout).toContain(id);
});

test("without a grant there is no command, and whoever finds it is refused", async () => {
  const name = await startSandbox(client);
  expect((await inside(client, name, "torpor whoami")).end.exitCode).toBe(127);
  expect(await inside(client, name, "/.torpor/bin/torpor pause")).toMatchObject({
    end: { exitCode: 1 },
    stderr: expect.stringContaining("may not pause it"),
  });
  expect((await client.get(name)).state).toBe("running");
});

test("a process sleeps for a while by a pause that ends by itself, and keeps its state, which goes on in a copy", async () => {
  const name = await startSandbox(client, { selfControl: ["pause", "snapshot", "wake"] });
  const program = `torpor pause --wake-after 1s && torpor snapshot ${name}-point > /root/said; cat /root/said; torpor wake-url`;
  const { id: session } = await client.startSession(name, { argv: ["sh", "-c", program] });
  await eventually(
    () => client.get(name),
    ({ state, generation }) => state === "running" && generation === 2,
  );
  const said = new Follower(await client.attach(name, session));
  await said.finished;
  expect(said.text).toMatch(new RegExp(`^snapshot sn_\\w+ ${name}-point\n/v1/wake/\\S+\n$`));
  expect((await client.operations(name)).map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    "snapshot self",
    "resume wake",
    "pause self",
    "create user",
  ]);
  const { sandbox: copy } = await client.create({ snapshot: `${name}-point`, name: `${name}-copy`, selfControl: ["wake"] });
  const there = new Follower(await client.attach(`${name}-copy`, session));
  await there.finished;
  expect(there.text).toMatch(new RegExp(`^${copy?.id} ${name}-copy\n/v1/wake/\\S+\n$`));
  await client.remove(`${name}-copy`, { force: true });
  await client.snapshots.remove(`${name}-point`);
});

test("a process forks its own sandbox as fork(2) does: each copy of it says who it is, and the family ends as it is told to", async () => {
  const name = await startSandbox(client, { selfControl: ["fork", "pause"] });
  const program = `for try in $(torpor fork -n 3 --name ${name}-try | tee /root/said | grep -c child); do test $try = 0 || torpor pause; done; echo done; cat /root/said`;
  const { id: session } = await client.startSession(name, { argv: ["sh", "-c", program] });
  const source = await client.get(name);
  const parent = new Follower(await client.attach(name, session));
  await parent.finished;
  const children = [1, 2, 3].map((i) => `${name}-try-${i}`);
  const records = await Promise.all(children.map((child) => client.get(child)));
  expect(parent.text).toBe(`done\n${records.map(({ id }, i) => `parent of ${id} ${children[i]}\n`).join("")}`);
  for (const [i, child] of children.entries()) {
    // Each copy went on to pause its own sandbox.
    await eventually(
      () => client.get(child),
      ({ state }) => state === "paused",
    );
    await client.resume(child, { memory: "require" });
    const said = new Follower(await client.attach(child, session));
    await said.finished;
    expect(said.text).toBe(`done\nchild ${i + 1} of 3 ${records[i]?.id} ${child} of ${source.id}\n`);
  }
  expect((await client.operations(name)).map(({ kind, actor }) => `${kind} ${actor}`)).toEqual(["fork self", "create user"]);
  await cycle(client, name);
});
