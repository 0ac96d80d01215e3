import { expect, test } from "vitest";
import { Follower } from "./harness/follow.ts";
import { eventually, output } from "./harness/inside.ts";
import { fillMemory } from "./harness/large-memory.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { sandboxName, sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const mib = 2 ** 20;

// From 1 GiB on the load of the memory gives way to the sandbox that wakes: most of the engine's reads wait, in the shim's hands.
test("1.1 GiB of random memory are whole, whatever comes before all of them are back", async () => {
  const name = await startSandbox(client, { resources: { memoryBytes: 1536 * mib } });
  const read = (sandbox: string) => output(client, sandbox, "sha256sum < /dev/shm/big");
  const resume = () => client.resume(name, { memory: "require" });
  await output(client, name, "head -c 1100M /dev/urandom > /dev/shm/big");
  const sum = await read(name);

  await client.pause(name);
  await resume();
  expect(await read(name), "asked for at once").toBe(sum);

  await client.pause(name);
  await resume();
  await client.pause(name);
  await resume();
  const child = sandboxName(client, "child");
  await client.fork(name, { name: child });
  expect(await read(child), "a fork of one that was paused and forked at once").toBe(sum);
  await client.remove(child, { force: true });

  await client.pause(name);
  await resume();
  const { shimPid } = await hostRuntime(client, (await client.info()).instance, name);
  await killHard(shimPid);
  // The line to the sandbox breaks with the shim, and is made anew.
  await eventually(
    () => read(name).catch(String),
    (answer) => answer === sum,
  );

  await client.pause(name);
  await resume();
  await client.stop(name, { graceMs: 0 });
  expect((await client.get(name)).state).toBe("stopped");
});

test("pages of zeros are no part of a checkpoint, and of memory without any nothing is missing", async () => {
  const name = await startSandbox(client, { resources: { memoryBytes: 768 * mib } });
  const storedMib = async () => ((await client.pause(name)).sandbox?.checkpoint?.storedBytes ?? 0) / mib;
  await fillMemory(client, name, 200);
  const random = await storedMib();
  expect(random).toBeGreaterThan(200);
  await client.resume(name, { memory: "require" });
  // Every page was written to.
  const program =
    "import time; zeros = b'x' * (150 << 20); zeros = bytearray(150 << 20); zeros[::4096] = bytes(150 << 8); print(len(zeros), flush=True); time.sleep(9999)";
  const holder = new Follower(await client.stream(name, { argv: ["python3", "-c", program] }));
  await holder.until(({ text }) => text.endsWith("\n"));
  expect((await storedMib()) - random).toBeLessThan(15);
  await client.resume(name, { memory: "require" });
  expect(await output(client, name, ["pgrep", "-c", "python3"])).toBe("2");
});
