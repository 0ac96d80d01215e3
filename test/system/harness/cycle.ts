import type { TorporClient } from "@torpor/sdk";

/** Pauses and resumes; fails unless the memory came back. */
export async function cycle(client: TorporClient, sandbox: string): Promise<void> {
  await client.pause(sandbox);
  await client.resume(sandbox, { memory: "require" });
}

/** Pauses without memory and boots from the files again. */
export async function cycleFiles(client: TorporClient, sandbox: string): Promise<void> {
  await client.pause(sandbox, { memory: false });
  await client.resume(sandbox);
}

/** Starts a Python program that runs on; gives its session's id. */
export async function startPython(client: TorporClient, sandbox: string, program: string): Promise<string> {
  return (await client.startSession(sandbox, { argv: ["python3", "-c", program] })).id;
}
