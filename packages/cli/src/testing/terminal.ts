import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Server } from "./server.ts";
import { mainPath } from "./torpor.ts";

export interface Step {
  readonly await: string;
  readonly type: string;
}

/** A shell command on a terminal of its own, as a user has one, who types when a text has come. */
export async function typeOn(
  server: Pick<Server, "socket">,
  line: string,
  steps: readonly Step[] = [],
): Promise<{ code: number | null; text: string }> {
  const torporLine = `run_torpor() { "${process.execPath}" "${mainPath}" "$@"; }; ${line.replaceAll(/(^|[;&|(] ?)torpor /g, "$1run_torpor ")}`;
  const child = spawn("script", ["-qec", torporLine, "/dev/null"], {
    env: { ...process.env, TORPOR_SOCKET: server.socket, TERM: "dumb", SHELL: "/bin/bash" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  let text = "";
  let from = 0;
  const left = [...steps];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    // One piece may have what several steps wait for.
    for (let [step] = left; step !== undefined; [step] = left) {
      const at = text.indexOf(step.await, from);
      if (at < 0) break;
      from = at + step.await.length;
      left.shift();
      child.stdin.write(step.type);
    }
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}
