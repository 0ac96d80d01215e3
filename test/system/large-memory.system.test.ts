import { beforeEach, describe, expect, test } from "vitest";
import { eventually, output } from "./harness/inside.ts";
import { hostRuntime, killHard } from "./harness/runtime.ts";
import { sandboxName, sharedClient, startSandbox } from "./harness/shared.ts";

const client = sharedClient();
const mib = 2 ** 20;

// From 128 MiB on the load of the memory gives way to the sandbox that wakes: most of the engine's reads wait, in the shim's hands.
describe("160 MiB of random memory are whole", () => {
  let name: string;
  let sum: string;
  const read = (sandbox: string) => output(client, sandbox, "sha256sum < /dev/shm/big");

  beforeEach(async () => {
    name = await startSandbox(client, { resources: { memoryBytes: 384 * mib } });
    await output(client, name, "head -c 160M /dev/urandom > /dev/shm/big");
    sum = await read(name);
    await client.pause(name);
  });

  test("when all of it is asked for right after a resume", async () => {
    await client.resume(name, { memory: "require" });
    expect(await read(name)).toBe(sum);
  });

  test("when the sandbox is paused, and forked, before all of it is back", async () => {
    for (let round = 0; round < 3; round++) {
      await client.resume(name, { memory: "require" });
      await client.pause(name);
    }
    await client.resume(name, { memory: "require" });
    const child = sandboxName(client, "child");
    await client.fork(name, { name: child });
    expect([await read(name), await read(child)]).toEqual([sum, sum]);
  });

  test("when the shim that holds reads back is killed", async () => {
    await client.resume(name, { memory: "require" });
    const { shimPid } = await hostRuntime(client, (await client.info()).instance, name);
    await killHard(shimPid);
    // The line to the sandbox breaks with it, and is made anew.
    await eventually(
      () => read(name).catch(String),
      (answer) => answer === sum,
    );
  });

  test("it stops and is removed before all of it is back", async () => {
    await client.resume(name, { memory: "require" });
    await client.stop(name, { graceMs: 0 });
    expect((await client.get(name)).state).toBe("stopped");
  });
});
