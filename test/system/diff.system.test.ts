import type { Difference } from "@torpor/sdk";
import { expect, inject, test } from "vitest";
import { Follower } from "./harness/follow.ts";
import { output } from "./harness/inside.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { torpor } from "./harness/torpor-command.ts";

const client = sharedClient();

test("a fork and its parent, one running and one paused: files as programs left them, and nothing wakes", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir -p /srv/a /srv/gone; echo same > /srv/a/same; echo old > /srv/a/changed; touch /srv/gone/x");
  const child = `${name}-child`;
  await client.fork(name, { name: child });
  const changes = `
import os, signal
open('/srv/a/changed', 'w').write('new\\n')
os.chmod('/srv/a/same', 0o600)
os.remove('/srv/gone/x'); os.rmdir('/srv/gone')
os.makedirs('/srv/made'); os.rename('/etc/debian_version', '/srv/made/version')
os.symlink('nowhere', b'/srv/\\xff\\n')
held = open('/srv/held', 'w'); held.write('not closed'); held.flush()
print('ready', flush=True)
signal.pause()
`;
  const program = new Follower(await client.stream(child, { argv: ["python3", "-c", changes] }));
  await program.until(({ text }) => text.includes("ready"));
  const told = [
    "removed /etc/debian_version",
    "changed /srv/a/changed content",
    "changed /srv/a/same mode",
    "removed /srv/gone",
    "removed /srv/gone/x",
    "added /srv/held",
    "added /srv/made",
    "added /srv/made/version",
    "added /srv/\ufffd\n",
  ].sort();
  await client.pause(name);
  const before = await client.get(name);
  expect(await lines(name, child)).toEqual(told);
  await client.pause(child);
  expect(await lines(name, child)).toEqual(told);
  const all = await differences(name, child);
  expect(all.find(({ path }) => path === "/srv/\ufffd\n")).toMatchObject({
    pathBase64: Buffer.from("/srv/\xff\n", "latin1").toString("base64"),
    after: { type: "symlink", target: "nowhere" },
  });
  expect(all.find(({ path }) => path === "/srv/held")?.after).toMatchObject({ size: 10 });
  expect(await client.get(name)).toEqual(before);
  expect(await client.get(child)).toMatchObject({ state: "paused", generation: 1 });
  // Against the image each tells what its programs did, and nothing of what lies in memory.
  expect(await lines(child)).toContain("removed /etc/debian_version");
  expect((await lines(name)).filter((line) => /\/srv/.test(line))).toEqual([
    "added /srv/a",
    "added /srv/a/changed",
    "added /srv/a/same",
    "added /srv/gone",
    "added /srv/gone/x",
  ]);
  const printed = await torpor(inject("torporSocket"), "diff", name, child);
  expect(printed.stdout).toContain("C /srv/a/same  (mode 644 became 600)\nR /srv/gone/\n");
  expect(printed.stdout).toContain("A /srv/\\xff\\x0a\n");
  await client.resume(child, { memory: "require" });
  expect(await lines(name, child)).toEqual(told);
});

async function differences(sandbox: string, other?: string): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const one of client.diff(sandbox, other === undefined ? {} : { with: other })) found.push(one);
  return found;
}

/** Sorted, and without what the guest itself writes down about who the sandbox is. */
async function lines(sandbox: string, other?: string): Promise<string[]> {
  const all = (await differences(sandbox, other)).map(({ change, path, what }) => [change, path, ...what].join(" "));
  return all.filter((line) => !/\/etc\/host(s|name)( |$)/.test(line)).sort();
}
