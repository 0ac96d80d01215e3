import { globSync, statSync } from "node:fs";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";
import { eventually, inside } from "./inside.ts";
import type { TestDaemon } from "./test-daemon.ts";

/** So much memory that can't be made smaller: a capture of 512 MiB takes about 300 ms. */
export async function fillMemory(client: TorporClient, sandbox: string, sizeMib: number): Promise<void> {
  const program = `import os, time\nkept = os.urandom(${sizeMib} << 20)\nopen('/dev/shm/full', 'w')\ntime.sleep(9999)`;
  await client.startSession(sandbox, { argv: ["python3", "-c", program] });
  await eventually(
    () => inside(client, sandbox, "test -e /dev/shm/full"),
    ({ end }) => end.exitCode === 0,
    60_000,
  );
}

/** Resolves in the middle of a capture. */
export async function captureBegan({ data }: TestDaemon): Promise<void> {
  const written = () =>
    globSync(path.join(data, "pool/checkpoints/*.partial/pages.img")).map((file) => statSync(file, { throwIfNoEntry: false }));
  await eventually(
    async () => written(),
    (files) => files.some((file) => (file?.size ?? 0) > 0),
  );
}
