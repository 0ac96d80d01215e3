import { expect, test } from "vitest";
import { eventually, output } from "./harness/inside.ts";
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
