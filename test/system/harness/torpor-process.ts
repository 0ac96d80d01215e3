import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

export const torporMain = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));

export type TorporProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** The command line on the shared daemon as a process with pipes, for tests of bytes, signals and broken-off clients. */
export function spawnTorpor(...args: readonly string[]): TorporProcess {
  return spawnTorporOn(inject("torporSocket"), ...args);
}

export function spawnTorporOn(socket: string, ...args: readonly string[]): TorporProcess {
  const child = spawn(process.execPath, [torporMain, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TORPOR_SOCKET: socket },
  });
  // A command that does not read its input is no failure.
  child.stdin.on("error", () => {});
  return child;
}

export interface TorporOutcome {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export async function outcomeOf(child: TorporProcess): Promise<TorporOutcome> {
  const ended = once(child, "close") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended]);
  return { code, stdout, stderr: stderr.toString() };
}

/** With an input that ends at once, or with the given one. */
export function runTorpor(args: readonly string[], input?: Uint8Array): Promise<TorporOutcome> {
  const child = spawnTorpor(...args);
  child.stdin.end(input);
  return outcomeOf(child);
}
