import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** What becomes of the next commit: `before` the server sees it the line is cut, or `after` it was done, so that its answer is lost. */
export type Cut = "before" | "after";

/** Between a client and a PostgreSQL server; cuts the line at a commit. */
export class CuttingProxy implements AsyncDisposable {
  cuts: Cut[] = [];
  /** New lines are cut at once, as if the server were away. */
  refusing = false;
  readonly #directory: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(directory: string, server: Server) {
    this.#directory = directory;
    this.#server = server;
  }

  /** `socket`: the server's. */
  static async start(socket: string): Promise<CuttingProxy> {
    const directory = await mkdtemp(path.join(tmpdir(), "torpor-cut-"));
    const server = createServer();
    const proxy = new CuttingProxy(directory, server);
    server.on("connection", (client) => proxy.#join(client, connect(socket)));
    server.listen(path.join(directory, path.basename(socket)));
    await once(server, "listening");
    return proxy;
  }

  url(direct: string): string {
    const url = new URL(direct);
    url.searchParams.set("host", this.#directory);
    return url.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await rm(this.#directory, { recursive: true });
  }

  #join(client: Socket, server: Socket): void {
    let lost = false;
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    if (this.refusing) end();
    client.on("data", (data) => {
      const cut = isCommit(data) ? this.cuts.shift() : undefined;
      if (cut === "before") end();
      else {
        lost = cut === "after";
        server.write(data);
      }
    });
    server.on("data", (data) => {
      if (lost) end();
      else client.write(data);
    });
  }
}

/** A simple query: Q, four bytes of length, the text. */
function isCommit(data: Buffer): boolean {
  return data[0] === 0x51 && /^commit/i.test(data.subarray(5).toString("latin1"));
}
