import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GuideWorld } from "./harness/guide-world.ts";
import { runPython } from "./harness/python.ts";
import { newerRequests, olderRequests } from "./harness/wheels.ts";

let world: GuideWorld;
beforeAll(async () => {
  world = await GuideWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

/** What a program prints. */
async function prints(source: string): Promise<string> {
  const file = path.join(world.daemon.data, "program.py");
  writeFileSync(file, source);
  const { code, stdout, stderr } = await runPython([file], { TORPOR_SOCKET: world.daemon.socket });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("pause, resume and fork a sandbox with the program of the guide", async () => {
  const printed = await prints(`
from torpor import Torpor

version = ["python", "-c", "import requests; print(requests.__version__)"]

with Torpor() as torpor:
    # Create a sandbox and install a package in it.
    base = torpor.create("python:3.12", name="base", memory_mib=512)
    base.exec(["pip", "install", "requests"])

    # Pause it, which saves its memory to disk. Prints paused.
    base.pause()
    print(base.inspect().state)

    # Resume it. Its processes carry on where they left off.
    base.resume()

    # Fork it twice.
    try_a = base.fork(name="try-a")
    try_b = base.fork(name="try-b")

    # Change one fork only. Prints 2.31.0, then base's version.
    try_a.exec(["pip", "install", "requests==2.31.0"])
    print(try_a.exec(version).stdout)
    print(try_b.exec(version).stdout)

    # Remove all three.
    for sandbox in (try_a, try_b, base):
        sandbox.remove(force=True)
`);
  expect(printed).toBe(`paused\n${olderRequests}\n\n${newerRequests(world.wheels)}\n\n`);
  expect(await world.daemon.client.list()).toEqual([]);
});

test("a pause and a resume with memory and a time limit, and what a sandbox says of itself", async () => {
  const printed = await prints(`
from torpor import Torpor

with Torpor() as client, client.create("python:3.12") as sandbox:
    sandbox.exec("echo kept >/dev/shm/memory")
    client.sandboxes.pause_and_wait(
        sandbox.id,
        memory=True,
        timeout_sec=360,
    )
    sb = client.get_sandbox(sandbox.id)
    print("paused=", sb.paused)
    print("status=", sb.status)
    print("runtime_id=", sb.runtime_id)
    print("runtime_generation=", sb.runtime_generation)
    client.sandboxes.resume_and_wait(
        sandbox.id,
        memory=True,
        timeout_sec=360,
    )
    print(sandbox.exec("cat /dev/shm/memory").stdout)
    client.sandboxes.pause_and_wait(sandbox.id, memory=False, timeout_sec=360)
    print(client.sandboxes.resume_and_wait(sandbox.id, memory=True, timeout_sec=360).restored)
    print(sandbox.refresh().runtime_generation)
`);
  expect(printed).toBe("paused= True\nstatus= paused\nruntime_id= None\nruntime_generation= 1\nkept\n\nfiles\n3\n");
});

test("a counter in a live terminal and a file carry on over a suspension, in both clients", async () => {
  const printed = await prints(`
import asyncio
import re
from datetime import timedelta

from torpor import AsyncTorpor, Torpor

with Torpor() as torpor, torpor.create("python:3.12", cpus=0.5, memory_mib=1024, ttl=timedelta(seconds=1800)) as sandbox:
    sandbox.exec(["bash", "-c", "mkdir -p /workspace && echo hello > /workspace/notes.txt"], check=True)
    counter = "import itertools, os, time\\nfor n in itertools.count(): print('count', n, os.getpid(), flush=True); time.sleep(0.05)"
    with sandbox.terminal(["python3", "-c", counter]) as terminal:
        before = re.findall(r"count (\\d+) (\\d+)", terminal.read_until(r"count 5 \\d+\\r"))[-1]
        sandbox.pause_and_wait()
        print(sandbox.state)
        sandbox.resume_and_wait()
        seen = re.findall(r"count (\\d+) (\\d+)", terminal.read_until(r"count 30 \\d+\\r"))
        numbers = [int(number) for number, _ in seen]
        print(numbers == list(range(int(before[0]) + 1, 31)), {pid for _, pid in seen} == {before[1]})
        terminal.kill()
        print(terminal.wait(10).exit_code)
    print(sandbox.exec(["cat", "/workspace/notes.txt"]).stdout)


async def main():
    async with AsyncTorpor() as torpor, await torpor.create("python:3.12") as sandbox:
        command = await sandbox.exec("for i in $(seq 1 40); do echo $i; sleep 0.05; done", background=True)
        waiting = asyncio.create_task(command.wait(60))
        await sandbox.pause()
        await sandbox.resume()
        print((await waiting).stdout.split() == [str(number) for number in range(1, 41)])


asyncio.run(main())
`);
  expect(printed).toBe("paused\nTrue True\n137\nhello\n\nTrue\n");
});
