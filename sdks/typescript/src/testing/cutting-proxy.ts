import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A way to a daemon's socket that can be cut, in the middle of a message too. */
export class CuttingProxy implements AsyncDisposable {
  readonly socket: string;
  readonly #directory: string;
  readonly #server: Server;
  readonly #ends = new Set<Socket>();
  /** Bytes from the client after which the way is cut; undefined: it is not. */
  #left: number | undefined;
  #told: () => void = () => {};
  #next: number[] = [];
  cuts = 0;

  static async open(target: string): Promise<CuttingProxy> {
    const directory = await mkdtemp(join(tmpdir(), "torpor-proxy-"));
    const proxy = new CuttingProxy(directory, target);
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(directory: string, target: string) {
    this.#directory = directory;
    this.socket = join(directory, "s");
    this.#server = createServer((client) => this.#join(client, connect(target))).listen(this.socket);
  }

  cut(): void {
    this.cuts++;
    this.#left = this.#next.shift();
    for (const end of this.#ends) end.destroy();
    this.#told();
  }

  /** Once, or anew after each cut. Resolves with the first. */
  cutAfter(...bytes: number[]): Promise<void> {
    [this.#left, ...this.#next] = bytes;
    return new Promise((resolve) => {
      this.#told = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) end.destroy();
    this.#server.close();
    await rm(this.#directory, { recursive: true });
  }

  #join(client: Socket, daemon: Socket): void {
    for (const [end, other] of [
      [client, daemon],
      [daemon, client],
    ] as const) {
      this.#ends.add(end);
      end.on("error", () => {});
      end.once("close", () => {
        this.#ends.delete(end);
        other.destroy();
      });
    }
    daemon.pipe(client);
    client.on("data", (data: Buffer) => {
      const passed = this.#left === undefined ? data : data.subarray(0, this.#left);
      if (this.#left !== undefined) this.#left -= passed.length;
      daemon.write(passed);
      if (this.#left === 0 && passed.length > 0) setImmediate(() => this.cut());
    });
    client.on("end", () => daemon.end());
  }
}
