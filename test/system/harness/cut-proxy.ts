import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** The network between a browser and a daemon, which can be cut, and on whose other end another daemon can be put. */
export class CutProxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly server: Server;
  #isCut = false;
  #target: { host: string; port: number };

  /** Where it listens is for others to say. */
  constructor(url: string) {
    this.#target = targetOf(url);
    this.server = createServer((near) => this.#join(near));
  }

  retarget(url: string): void {
    this.#target = targetOf(url);
  }

  /** Connections break, and whoever makes one loses it at once. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    const closed = once(this.server, "close");
    this.server.close();
    await closed;
  }

  #join(near: Socket): void {
    if (this.#isCut) {
      near.on("error", () => {});
      near.destroy();
      return;
    }
    const far = connect(this.#target);
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      // As browser and daemon have it: otherwise the second of two small frames waits 40 ms for an acknowledgement of the first.
      socket.setNoDelay(true);
      const other = socket === near ? far : near;
      // What breaks on one side breaks on the other.
      socket.on("error", () => {});
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  }
}

function targetOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
