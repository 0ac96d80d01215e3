import { expect, inject, test } from "vitest";
import { cycle, cycleFiles, startPython } from "./harness/cycle.ts";
import { eventually, output } from "./harness/inside.ts";
import { post } from "./harness/post.ts";
import { sharedClient, startSandbox } from "./harness/shared.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

const client = sharedClient();

test("every change and deletion of eight pauses is there (P01)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "mkdir /d");
  for (let i = 1; i <= 8; i++) {
    await output(client, name, `echo ${i} > /d/f${i}; rm -f /d/f${i - 2}; echo ${i} >> /d/log`);
    await cycle(client, name);
    const found = await output(client, name, "cd /d; for f in *; do echo $f: $(cat $f); done");
    const log = `log: ${Array.from({ length: i }, (_, n) => n + 1).join(" ")}`;
    expect(found.split("\n")).toEqual([...(i > 1 ? [`f${i - 1}: ${i - 1}`] : []), `f${i}: ${i}`, log]);
  }
});

test("files and a process are there after a resume, under the same id (P04)", async () => {
  const name = await startSandbox(client);
  const { id, generation, runtimeId } = await client.get(name);
  await output(client, name, "echo k > /root/keep");
  const session = await client.startSession(name, { argv: ["sleep", "9999"] });
  await cycle(client, name);
  expect(await output(client, name, "cat /root/keep; pgrep -x sleep")).toBe(`k\n${session.pid}`);
  const after = await client.get(name);
  expect(after).toMatchObject({ id, generation: generation + 1, restored: "memory", state: "running" });
  expect(after.runtimeId).not.toBe(runtimeId);
});

test("a deleted file that is still open and a working directory that was removed survive (P06)", async () => {
  const name = await startSandbox(client);
  // Both kinds of file system: memory, and the disk through the gofer.
  for (const place of ["/tmp", "/root"]) {
    const program = `
import hashlib, os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
f = open('${place}/x', 'w+b')
data = os.urandom(1 << 20)
f.write(data); f.flush()
os.unlink('${place}/x')
os.mkdir('${place}/gone'); os.chdir('${place}/gone'); os.rmdir('${place}/gone')
open('${place}/before', 'w').write(hashlib.sha256(data).hexdigest()); os.rename('${place}/before', '${place}/ready')
data = None
signal.sigwait([signal.SIGUSR1])
f.seek(0)
print(os.getpid(), hashlib.sha256(f.read()).hexdigest(), os.path.exists('.'))
`;
    const { id, pid } = await client.startSession(name, { argv: ["python3", "-c", program] });
    const sum = await eventually(
      () => output(client, name, `cat ${place}/ready || true`),
      (text) => text.length === 64,
    );
    await cycle(client, name);
    await client.signal(name, id, "USR1");
    let text = "";
    for await (const frame of await client.attach(name, id)) {
      text += frame.type === "output" ? Buffer.from(frame.data).toString() : "";
    }
    expect(text.split(" ").slice(0, 2)).toEqual([String(pid), sum]);
  }
});

test("nothing of the pause is left in the record after a resume (P22)", async () => {
  const name = await startSandbox(client);
  await client.pause(name);
  const paused = await client.get(name);
  expect(paused).toMatchObject({ state: "paused", runtimeId: null, startedAt: null, operation: null });
  expect(paused.pausedAt).not.toBeNull();
  expect(paused.checkpoint?.storedBytes).toBeGreaterThan(0);
  await client.resume(name);
  expect(await client.get(name)).toMatchObject({ state: "running", pausedAt: null, checkpoint: null, failure: null, operation: null });
});

test("resume of a running sandbox changes nothing, and needs no body (P30)", async () => {
  const name = await startSandbox(client);
  const before = await client.get(name);
  const { operation, sandbox } = await client.resume(name);
  expect(operation).toMatchObject({ status: "succeeded", result: { unchanged: true } });
  expect(sandbox).toEqual(before);
  expect((await post(inject("torporSocket"), `/v1/sandboxes/${name}/resume`)).status).toBe(200);
  await client.pause(name);
  expect((await post(inject("torporSocket"), `/v1/sandboxes/${name}/resume`)).status).toBe(200);
  expect((await client.get(name)).restored).toBe("memory");
});

test("a daemon with another resolver resumes what an earlier one paused (P31)", async () => {
  const env = { TORPOR_DNS: "192.0.2.53" };
  await using daemon = await TestDaemon.start({ env });
  await daemon.client.create({ image: "debian", name: "kept" });
  await output(daemon.client, "kept", "echo boot > /dev/shm/boot");
  const resolver = await output(daemon.client, "kept", "cat /etc/resolv.conf");
  await daemon.client.pause("kept");
  await daemon.terminate();
  env.TORPOR_DNS = "192.0.2.54";
  await daemon.launch();
  await daemon.client.resume("kept", { memory: "require" });
  expect(await output(daemon.client, "kept", "cat /dev/shm/boot /etc/resolv.conf")).toBe(`boot\n${resolver}`);
});

test("/tmp, /dev/shm and /run are kept with the memory and start empty without it (F18)", async () => {
  const name = await startSandbox(client);
  await output(client, name, "echo a > /tmp/a; mv /tmp/a /b; echo t > /tmp/t; echo s > /dev/shm/s; echo r > /run/r; echo f > /root/f");
  await cycle(client, name);
  expect(await output(client, name, "cat /b /tmp/t /dev/shm/s /run/r /root/f")).toBe("a\nt\ns\nr\nf");
  await cycleFiles(client, name);
  expect(await output(client, name, "cat /b /root/f; ls /tmp /dev/shm; ls /run/r 2>/dev/null || echo gone")).toBe(
    "a\nf\n/dev/shm:\n\n/tmp:\ngone",
  );
});

test("connections inside and a pipe go on over pauses", async () => {
  const name = await startSandbox(client);
  await startPython(client, name, pingPong);
  const count = async () => Number(await output(client, name, "cat /tmp/count 2>/dev/null || echo 0"));
  let last = await eventually(count, (n) => n > 10);
  for (let i = 0; i < 3; i++) {
    await cycle(client, name);
    const before = last;
    last = await eventually(count, (n) => n > before + 10);
  }
});

/** Two processes over one TCP connection on 127.0.0.1, one over ::1 and one pipe; any break ends the count. */
const pingPong = `
import os, socket, time
def pair(family, host):
    l = socket.socket(family); l.bind((host, 0)); l.listen()
    c = socket.create_connection(l.getsockname()[:2])
    return c, l.accept()[0]
a, b = pair(socket.AF_INET, '127.0.0.1')
c, d = pair(socket.AF_INET6, '::1')
r, w = os.pipe()
if os.fork() == 0:
    while True:
        n = b.recv(8, socket.MSG_WAITALL)
        os.write(w, n)
n = 0
while True:
    n += 1
    m = n.to_bytes(8, 'big')
    a.sendall(m)
    m = os.read(r, 8)
    c.sendall(m)
    assert d.recv(8, socket.MSG_WAITALL) == n.to_bytes(8, 'big')
    open('/tmp/.count', 'w').write(str(n)); os.rename('/tmp/.count', '/tmp/count')
    time.sleep(0.002)
`;
