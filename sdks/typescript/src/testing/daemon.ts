import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TorporClient } from "../index.ts";

/** The daemon's test server as a process of its own, with a client. */
export async function startDaemon(): Promise<{ readonly client: TorporClient; readonly socket: string } & AsyncDisposable> {
  const main = fileURLToPath(new URL("../../../../packages/daemon/src/testing/main.ts", import.meta.url));
  const daemon = spawn(process.execPath, [main], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = (await once(daemon.stdout, "data")) as [Buffer];
  const socket = line.toString().trim();
  const client = new TorporClient({ socket });
  return {
    client,
    socket,
    async [Symbol.asyncDispose]() {
      client.close();
      const exit = once(daemon, "exit");
      daemon.stdin.end();
      await exit;
    },
  };
}

/** A server that answers as told, in place of a daemon. */
export async function against(answer: RequestListener, work: (other: TorporClient) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "torpor-sdk-"));
  const server = createServer(answer).listen(join(directory, "s"));
  await once(server, "listening");
  const other = new TorporClient({ socket: join(directory, "s") });
  try {
    await work(other);
  } finally {
    other.close();
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true });
  }
}
