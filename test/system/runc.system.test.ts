import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually, inside, output } from "./harness/inside.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { TestDaemon } from "./harness/test-daemon.ts";
import { torpor } from "./harness/torpor-command.ts";

const mib = 2 ** 20;
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--engine", "runc"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("runc runs commands and keeps files over stop and start", async () => {
  const name = await create();
  const { end, stdout, stderr } = await inside(daemon.client, name, "echo out; echo err >&2; exit 3");
  expect({ code: end.exitCode, stdout, stderr }).toEqual({ code: 3, stdout: "out\n", stderr: "err\n" });
  expect(await output(daemon.client, name, "cat /proc/1/comm; hostname; id -un; pwd")).toBe(`torpor-guest\n${name}\nroot\n/`);
  await daemon.client.files.write(name, "/root/kept", Readable.from([Buffer.from("kept")]));
  expect(await output(daemon.client, name, "cat /root/kept; echo more >>/root/kept; echo gone >/tmp/gone")).toBe("kept");
  await daemon.client.stop(name);
  await daemon.client.start(name);
  expect(await output(daemon.client, name, "cat /root/kept; ls /tmp")).toBe("keptmore");
});

test("a terminal and an input work over the command line", async () => {
  const name = await create();
  expect(await torpor(daemon.socket, "exec", "-t", name, "tty")).toMatchObject({ code: 0, stdout: "/dev/pts/0\r\n" });
  const { end, stdout } = await inside(daemon.client, name, "cat", { input: Buffer.from("through").toString("base64") } as object);
  expect({ code: end.exitCode, stdout }).toEqual({ code: 0, stdout: "through" });
});

test("pause, resume and fork are refused, and the refusal names the engine", async () => {
  const name = await create();
  const before = await daemon.client.list();
  for (const verb of ["pause", "resume", "fork"] as const) {
    await expect(daemon.client[verb](name)).rejects.toMatchObject({
      code: "capability_unsupported",
      message: expect.stringMatching(new RegExp(`runc .*${verb}`)),
      details: { engine: "runc", capability: verb },
    });
    const { code, stdout, stderr } = await torpor(daemon.socket, verb, name);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("runc");
  }
  expect(await daemon.client.list()).toEqual(before);
});

test("capabilities and info tell what runc can't do, and why", async () => {
  const { engine, capabilities } = await daemon.client.capabilities();
  expect(engine).toBe("runc");
  const missing = Object.entries(capabilities).filter(([, { supported }]) => !supported);
  expect(missing.map(([name]) => name)).toEqual(["pause", "resume", "fork"]);
  for (const [, { reason }] of missing) {
    expect(reason).toMatch(/host's own kernel/);
  }
  const info = await daemon.client.info();
  expect(info.engine).toMatchObject({
    name: "runc",
    version: expect.stringMatching(/^\d+\.\d+/),
    source: "path",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect((await torpor(daemon.socket, "info")).stdout).toMatch(/no pause\s+it runs sandboxes on the host's own kernel/);
});

test("the limits of memory, CPU and processes are those of the sandbox", async () => {
  const name = await create({ memoryBytes: 128 * mib, cpus: 0.5, pids: 64 });
  const group = await limits(name);
  // 16 of the places are the guest's own threads'.
  expect(group).toMatchObject({ memory: 128 * mib, cpu: 0.5, pids: 64 + 16 });
  const bomb = await inside(daemon.client, name, "for i in $(seq 200); do sleep 1000 & done; wait", { timeoutMs: 10_000 });
  expect(bomb.stderr).toMatch(/fork|Resource temporarily unavailable/i);
  const grown = await inside(daemon.client, name, ["python3", "-c", "b = bytearray(1 << 30)\nfor i in range(0, len(b), 4096): b[i] = 1"]);
  expect(grown.end).toMatchObject({ exitCode: 137, signal: "SIGKILL" });
  expect(await output(daemon.client, name, "echo lives")).toBe("lives");
});

test("the host's devices and kernel settings are closed, though the kernel is the host's", async () => {
  const name = await create();
  const loop = await inside(daemon.client, name, "mknod /root/loop b 7 0 && head -c 1 /root/loop");
  expect(loop.end.exitCode).not.toBe(0);
  expect(loop.stderr).toMatch(/Operation not permitted/);
  expect((await inside(daemon.client, name, "echo 1 >/proc/sys/vm/drop_caches")).end.exitCode).not.toBe(0);
  expect(await output(daemon.client, name, "head -c 1 /proc/kcore | wc -c")).toBe("0");
});

test("a runtime that was killed is reported, and leaves nothing", async () => {
  const name = await create();
  const { enginePid, directory } = await hostRuntime(daemon.client, daemon.instance, name);
  await killHard(enginePid);
  const failed = await eventually(
    () => daemon.client.get(name),
    ({ state }) => state === "failed",
    10_000,
  );
  expect(failed.failure?.message).toMatch(/SIGKILL/);
  expect(existsSync(directory)).toBe(false);
  await daemon.client.start(name);
  expect(await output(daemon.client, name, "echo again")).toBe("again");
});

test("a killed daemon's successor finds the sandbox running", async () => {
  const name = await create();
  const session = await daemon.client.startSession(name, { argv: ["sleep", "1000"] });
  await daemon.kill();
  await daemon.launch();
  expect(await daemon.client.session(name, session.id)).toMatchObject({ pid: session.pid, end: null });
});

async function create(resources: object = {}): Promise<string> {
  const { sandbox } = await daemon.client.create({ image: "debian", resources });
  const { id = "", name = "" } = sandbox ?? {};
  onTestFinished(async () => void (await daemon.client.remove(id, { force: true })));
  return name;
}

/** The runtime's control group on the host. */
async function limits(name: string): Promise<{ memory: number; cpu: number; pids: number }> {
  const { runtimeId } = await daemon.client.get(name);
  const group = (controller: string) =>
    path.join(
      "/sys/fs/cgroup",
      existsSync("/sys/fs/cgroup/cgroup.controllers") ? "" : controller,
      `torpor-${daemon.instance}`,
      String(runtimeId),
    );
  const read = (controller: string, ...files: string[]) => {
    const there = readdirSync(group(controller));
    const file = files.find((name) => there.includes(name)) ?? "";
    return readFileSync(path.join(group(controller), file), "utf8").trim();
  };
  const unified = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const [quota, period] = unified ? read("cpu", "cpu.max").split(" ") : [read("cpu", "cpu.cfs_quota_us"), read("cpu", "cpu.cfs_period_us")];
  return {
    memory: Number(read("memory", "memory.max", "memory.limit_in_bytes")),
    cpu: Number(quota) / Number(period),
    pids: Number(read("pids", "pids.max")),
  };
}
