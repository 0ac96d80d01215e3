import type { TorporClient } from "@torpor/sdk";
import { eventually, inside } from "./inside.ts";

/** So much memory that can't be made smaller: a capture of 512 MiB takes about 300 ms. */
export async function fillMemory(client: TorporClient, sandbox: string, sizeMib: number): Promise<void> {
  const program = `import os, time\nkept = os.urandom(${sizeMib} << 20)\nopen('/dev/shm/full', 'w')\ntime.sleep(9999)`;
  await client.startSession(sandbox, { argv: ["python3", "-c", program] });
  await eventually(
    () => inside(client, sandbox, "test -e /dev/shm/full"),
    ({ end }) => end.exitCode === 0,
  );
}
