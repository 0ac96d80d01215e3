import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "./server.ts";
import { mainPath } from "./torpor.ts";

export interface Step {
  readonly await: string;
  readonly type: string;
}

/** A shell command on a terminal of its own, as a user has one, who types when a text has come. */
export async function typeOn(server: Server, line: string, steps: readonly Step[] = []): Promise<{ code: number | null; text: string }> {
  const torporLine = `run_torpor() { "${process.execPath}" "${mainPath}" "$@"; }; ${line.replaceAll(/(^|[;&|(] ?)torpor /g, "$1run_torpor ")}`;
  const child = spawn("script", ["-qec", torporLine, "/dev/null"], {
    env: { ...process.env, TORPOR_SOCKET: server.socket, TERM: "dumb", SHELL: "/bin/bash" },
  });
  let text = "";
  let from = 0;
  const left = [...steps];
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const [step] = left;
    if (step === undefined || !text.slice(from).includes(step.await)) return;
    from = text.length;
    left.shift();
    child.stdin.write(step.type);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}
