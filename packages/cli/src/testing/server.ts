import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { firstLine } from "./first-line.ts";

export interface Server extends AsyncDisposable {
  readonly socket: string;
  /** With `tcp`; else empty. */
  readonly url: string;
}

/** The daemon's test server as a process of its own, whose sandboxes are processes of this host. */
export async function startServer({ tcp = false }: { tcp?: boolean } = {}): Promise<Server> {
  const main = fileURLToPath(new URL("../../../daemon/src/testing/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, ...(tcp ? ["--tcp"] : [])], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {});
  // It may end at any time, before somebody waits for that.
  const exit = once(child, "exit") as Promise<[number | null]>;
  const complaints = text(child.stderr);
  const [socket = "", url = ""] = (await firstLine(child.stdout)).split(" ");
  if (socket === "") throw new Error(`the test server did not start: ${await complaints}`);
  return {
    socket,
    url,
    async [Symbol.asyncDispose]() {
      // It ends with its input, so it ends with the tests even if they crash.
      child.stdin.end();
      const [code] = await exit;
      if (code !== 0) throw new Error(`the test server ended with ${code}: ${await complaints}`);
    },
  };
}
