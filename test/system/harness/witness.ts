import type { TorporClient } from "@torpor/sdk";
import { eventually, output } from "./inside.ts";

/** Counts in memory; what it notes lies in memory too. */
const counter = `
import os, time
n = 0
while True:
    n += 1
    open('/dev/shm/.n', 'w').write(f'{n} {os.getpid()}'); os.rename('/dev/shm/.n', '/dev/shm/n')
    time.sleep(0.01)
`;

/** A process that counts and a file on the disk: what a sandbox must not lose. */
export interface Witness {
  readonly sessionId: string;
  readonly pid: number;
  readonly count: number;
}

export async function startWitness(client: TorporClient, sandbox: string): Promise<Witness> {
  await output(client, sandbox, "rm -f /dev/shm/n; [ -e /root/marker ] || { echo kept > /root/marker; sync; }");
  const { id } = await client.startSession(sandbox, { argv: ["python3", "-c", counter] });
  const [count, pid] = await readCount(client, sandbox, 0);
  return { sessionId: id, pid, count };
}

/** The same process goes on counting. */
export async function goesOn(client: TorporClient, sandbox: string, before: Witness): Promise<void> {
  const [, pid] = await readCount(client, sandbox, before.count);
  if (pid !== before.pid) {
    throw new Error(`the count goes on in process ${pid} and was in ${before.pid}`);
  }
}

export async function hasFiles(client: TorporClient, sandbox: string): Promise<void> {
  const marker = await output(client, sandbox, "cat /root/marker");
  if (marker !== "kept") {
    throw new Error(`the file has ${JSON.stringify(marker)}`);
  }
}

async function readCount(client: TorporClient, sandbox: string, above: number): Promise<[number, number]> {
  const text = await eventually(
    () => output(client, sandbox, "cat /dev/shm/n 2>/dev/null || echo 0 0"),
    (answer) => Number(answer.split(" ")[0]) > above,
  );
  return text.split(" ").map(Number) as [number, number];
}
