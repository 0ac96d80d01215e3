import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import type { ErrorCode } from "@torpor/contract";
import { expect, inject, onTestFinished, test } from "vitest";
import { leftovers, readHostState } from "./harness/host-state.ts";
import { eventually, inside, output } from "./harness/inside.ts";
import { Registry } from "./harness/registry.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { torpor } from "./harness/torpor-command.ts";

const mib = 2 ** 20;
const client = sharedClient();
const data = inject("torporData");
const { instance } = await client.info();

test("an image that is nowhere", async () => {
  await using registry = await Registry.open();
  const nowhere = `${registry.host}/no/such:1`;
  await refused(
    () => client.create({ image: nowhere }),
    ["create", nowhere],
    "image_not_found",
    new RegExp(`Image ${nowhere} is not at its registry`),
  );
  await refused(
    () => client.create({ image: "no-such:1", pull: false }),
    ["create", "--no-pull", "no-such:1"],
    "image_not_found",
    /image no-such:1 is not here/,
  );
  await refused(() => client.create({ image: "No Such" }), ["create", "No Such"], "invalid_request", /"No Such" is not an image reference/);
});

test("a registry that does not answer", async () => {
  // Of the ports that the kernel gives to nobody, one where nobody listens.
  const host = "127.0.0.1:1";
  await refused(
    () => client.create({ image: `${host}/x:1` }),
    ["create", `${host}/x:1`],
    "registry_failed",
    new RegExp(`The registry of ${host}/x:1 failed`),
  );
});

test("a name that is taken", async () => {
  const name = await startSandbox(client);
  await refused(
    () => client.create({ image: "debian", name }),
    ["create", "--name", name, "debian"],
    "name_taken",
    new RegExp(`another sandbox has the name ${name}`),
  );
  await refused(
    () => client.fork(name, { name }),
    ["fork", "--name", name, name],
    "name_taken",
    new RegExp(`another sandbox has the name ${name}`),
  );
});

test.each(["Upper", "-dash", "a b", "x".repeat(64), "sb_lookalike", ""])("a malformed name: %j", async (name) => {
  await refused(
    () => client.create({ image: "debian", name }),
    ["create", `--name=${name}`, "debian"],
    "invalid_name",
    /a name (has lower-case letters|must not look like an id)/,
  );
});

test("memory below the engine's minimum and above the node's", async () => {
  const create = (memoryBytes: number) => () => client.create({ image: "debian", resources: { memoryBytes } });
  await refused(
    create(16 * mib),
    ["create", "--memory", "16MiB", "debian"],
    "invalid_request",
    /16 MiB of memory is below the minimum of engine gvisor, 64 MiB/,
  );
  const tooMuch = Math.ceil(totalmem() / mib) + 1024;
  await refused(
    create(tooMuch * mib),
    ["create", "--memory", `${tooMuch}MiB`, "debian"],
    "capacity_exceeded",
    new RegExp(`${tooMuch} MiB of memory were asked for, the node has ${Math.round(totalmem() / mib)} MiB`),
  );
  const usage = await torpor(socket(), "create", "--memory", "much", "debian");
  expect(usage).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining('"much" is no size') });
});

test("calls that a paused sandbox does not take", async () => {
  const name = await startSandbox(client);
  await client.pause(name);
  const paused = new RegExp(`sandbox ${name} is paused: resume it with torpor resume ${name}`);
  await refused(() => client.exec(name, { argv: ["true"] }), ["exec", name, "true"], "sandbox_not_running", paused);
  await refused(() => client.files.stat(name, "/etc"), ["cp", `${name}:/etc/hostname`, "/nonexistent/"], "sandbox_not_running", paused);
  await refused(() => client.pause(name), ["pause", name], "sandbox_not_running", new RegExp(`sandbox ${name} is paused already`));
  await refused(() => client.start(name), ["start", name], "sandbox_not_stopped", paused);
  await refused(
    () => client.remove(name),
    ["remove", name],
    "sandbox_live",
    new RegExp(`sandbox ${name} is paused: stop it first or use --force`),
  );
});

test("calls that a stopped sandbox does not take", async () => {
  const name = await startSandbox(client);
  await client.stop(name, { graceMs: 0 });
  const stopped = new RegExp(`sandbox ${name} is stopped: start it with torpor start ${name}`);
  await refused(() => client.exec(name, { argv: ["true"] }), ["exec", name, "true"], "sandbox_not_running", stopped);
  await refused(
    () => client.pause(name),
    ["pause", name],
    "sandbox_not_running",
    new RegExp(`sandbox ${name} is stopped: pause takes a running sandbox`),
  );
  await refused(
    () => client.resume(name),
    ["resume", name],
    "sandbox_not_paused",
    new RegExp(`sandbox ${name} is stopped: resume takes a paused sandbox`),
  );
  await refused(
    () => client.fork(name),
    ["fork", name],
    "sandbox_not_running",
    new RegExp(`sandbox ${name} is stopped: fork takes a running sandbox`),
  );
});

test("a sandbox that is not there, and a daemon that is not there", async () => {
  await refused(() => client.pause("nobody"), ["pause", "nobody"], "sandbox_not_found", /there is no sandbox nobody/);
  const { code, stdout, stderr } = await torpor("/nonexistent/torpord.sock", "list");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/\/nonexistent\/torpord\.sock.*\nhint: /);
});

test("a file that is not there, and paths that lead outside", async () => {
  const name = await startSandbox(client);
  await refused(() => client.files.stat(name, "/no/such"), ["cp", `${name}:/no/such`, "."], "file_not_found", /\/no\/such/);
  await refused(() => client.files.stat(name, "a\0b"), undefined, "invalid_path", /NUL/);
  const canary = path.join("/tmp", `torpor-canary-${process.pid}`);
  writeFileSync(canary, "of the host");
  onTestFinished(() => rmSync(canary, { force: true }));
  await refused(
    () => client.files.stat(name, `../../../../..${canary}`),
    ["cp", `${name}:../../../../..${canary}`, "."],
    "file_not_found",
    /canary/,
  );
  await client.files.write(name, `../../../../..${canary}`, Readable.from([Buffer.from("of the sandbox")]));
  expect(await output(client, name, ["cat", canary])).toBe("of the sandbox");
  expect(readFileSync(canary, "utf8")).toBe("of the host");
});

test("a full disk: the file is refused, the command hears of it, the sandbox lives", async () => {
  const name = await startSandbox(client, { resources: { diskBytes: 64 * mib } });
  const full = await inside(client, name, "head -c 100M /dev/zero >/root/big");
  expect(full.end.exitCode).not.toBe(0);
  expect(full.stderr).toMatch(/No space left on device/);
  await refused(
    () => client.files.write(name, "/root/more", Readable.from([Buffer.alloc(4 * mib)])),
    undefined,
    "disk_full",
    /no space left|disk is full/i,
  );
  expect((await inside(client, name, "ls /root/more")).end.exitCode).not.toBe(0);
  await output(client, name, "rm /root/big");
  await client.files.write(name, "/root/more", Readable.from([Buffer.alloc(4 * mib)]));
  expect(await output(client, name, "stat -c %s /root/more")).toBe(String(4 * mib));
});

test("a killed runtime: the sandbox is failed with the reason within 10 s, and boots again from its disk (D12)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "echo kept >/root/kept; sync");
  const stream = await client.stream(name, { argv: ["sleep", "1000"] });
  const frames = stream[Symbol.asyncIterator]();
  expect((await frames.next()).value).toMatchObject({ type: "started" });
  expect((await frames.next()).value).toEqual({ type: "live" });
  const { enginePid, directory } = await hostRuntime(client, instance, name);
  const killed = performance.now();
  await killHard(enginePid);
  expect((await frames.next()).value).toMatchObject({ type: "end", end: { reason: "lost" } });
  const failed = await eventually(
    () => client.get(name),
    ({ state }) => state === "failed",
    10_000,
  );
  expect(performance.now() - killed).toBeLessThan(10_000);
  expect(failed).toMatchObject({
    runtimeId: null,
    failure: { code: "engine_failed", message: expect.stringMatching(/killed by SIGKILL/) },
  });
  expect(existsSync(directory)).toBe(false);
  await refused(
    () => client.exec(name, { argv: ["true"] }),
    ["exec", name, "true"],
    "sandbox_not_running",
    new RegExp(`sandbox ${name} is failed: start it with torpor start ${name}`),
  );
  await client.start(name);
  expect(await output(client, name, "cat /root/kept")).toBe("kept");
});

/** The call and the command line both fail, with this code, these words and exit code 1, and nothing is other than before. */
async function refused(call: () => Promise<unknown>, args: readonly string[] | undefined, code: ErrorCode, words: RegExp): Promise<void> {
  const before = await everything();
  await expect(call()).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
  if (args !== undefined) {
    const result = await torpor(socket(), ...args);
    expect({ args, ...result }).toMatchObject({ args, code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^torpor: /m);
    expect(result.stderr).toMatch(words);
  }
  const after = await everything();
  expect(after.records).toEqual(before.records);
  // What the test before this one had, the kernel may still be taking down.
  expect(after.host.filter((line) => !before.host.includes(line))).toEqual([]);
}

/** What a call that was refused must not change: records, images, disks, and what there is on the host. */
async function everything(): Promise<{ readonly records: object; readonly host: readonly string[] }> {
  const host = leftovers({ ...readHostState([data, instance]), processes: [] });
  const list = (directory: string) => readdirSync(path.join(data, "pool", directory)).sort();
  const records = {
    sandboxes: await client.list(),
    images: await client.images.list(),
    disks: list("disks"),
    checkpoints: list("checkpoints"),
  };
  return { records, host };
}

function socket(): string {
  return inject("torporSocket");
}
