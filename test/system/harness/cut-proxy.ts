import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The network between a browser and a daemon, which can be cut, and on whose other end another daemon can be put. */
export class CutProxy implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  #target: { host: string; port: number };

  static async open(url: string): Promise<CutProxy> {
    const proxy = new CutProxy(url);
    await proxy.mend();
    return proxy;
  }

  private constructor(url: string) {
    this.#target = targetOf(url);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  retarget(url: string): void {
    this.#target = targetOf(url);
  }

  /** Connections break, and none can be made. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async mend(): Promise<void> {
    const server = createServer((near) => this.#join(near));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut();
  }

  #join(near: Socket): void {
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
