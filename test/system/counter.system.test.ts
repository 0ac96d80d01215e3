import { expect, test } from "vitest";
import { eventually, output } from "./harness/inside.ts";
import { sandboxName, sharedClient } from "./harness/shared.ts";

const counter =
  "import os, time\nn = 0\nwhile True:\n    n += 1\n    open('/tmp/.n', 'w').write(f'{n} {os.getpid()}')\n    os.rename('/tmp/.n', '/tmp/n')\n    time.sleep(0.02)\n";

test("a counter that lives in memory goes on over five pauses, with the same PID (P04)", async () => {
  const client = sharedClient();
  const name = sandboxName(client);
  await client.create({ image: "debian", name });
  await client.startSession(name, { argv: ["python3", "-c", counter] });
  const read = async () => (await output(client, name, "cat /tmp/n 2>/dev/null || echo 0 0")).split(" ").map(Number) as [number, number];
  let [count, pid] = await eventually(read, ([n]) => n > 3);
  for (let i = 0; i < 5; i++) {
    const { operation } = await client.pause(name);
    expect(operation?.status).toBe("succeeded");
    const { operation: resumed } = await client.resume(name);
    expect(resumed?.result).toMatchObject({ restored: "memory" });
    const [after, samePid] = await eventually(read, ([n]) => n > count);
    expect(samePid).toBe(pid);
    // A counter that began again would be below.
    expect(after).toBeGreaterThan(count);
    [count, pid] = [after, samePid];
  }
});
