import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Server } from "./server.ts";

export interface Run {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly text: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: Uint8Array | string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export const mainPath = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Starts the command as a user would, with pipes. */
export function launch({ socket }: Pick<Server, "socket">, args: readonly string[], { env, cwd }: RunOptions = {}): ChildProcess {
  return spawn(process.execPath, [mainPath, ...args], {
    stdio: "pipe",
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, TORPOR_SOCKET: socket, ...env },
  });
}

/** Runs the command to its end. */
export async function torpor(server: Pick<Server, "socket">, args: readonly string[], options: RunOptions = {}): Promise<Run> {
  const child = launch(server, args, options);
  child.stdin?.on("error", () => {});
  child.stdin?.end(options.input ?? "");
  return outcome(child);
}

/** What it says from now on, to its end. */
export async function outcome(child: ChildProcess): Promise<Run> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk)).resume();
  child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk)).resume();
  const [code] = (await once(child, "close")) as [number | null];
  const all = Buffer.concat(stdout);
  return { code, stdout: all, text: all.toString(), stderr: Buffer.concat(stderr).toString() };
}
