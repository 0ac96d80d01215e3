import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Server extends AsyncDisposable {
  readonly socket: string;
  /** With `tcp`; else empty. */
  readonly url: string;
}

/** The daemon's test server as a process of its own, whose sandboxes are processes of this host. */
export async function startServer({ tcp = false }: { tcp?: boolean } = {}): Promise<Server> {
  const main = fileURLToPath(new URL("../../../daemon/src/testing/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, ...(tcp ? ["--tcp"] : [])], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const [socket = "", url = ""] = line.toString().trim().split(" ");
  return {
    socket,
    url,
    async [Symbol.asyncDispose]() {
      const exit = once(child, "exit");
      // It ends with its input, so it ends with the tests even if they crash.
      child.stdin.end();
      await exit;
    },
  };
}
