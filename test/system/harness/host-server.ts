import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** A service of the host on all its addresses, TCP and UDP at one port: one that no sandbox may reach. */
export class HostServer {
  /** Who came: `tcp 10.0.0.1`, `udp 10.0.0.1`. */
  readonly seen: string[] = [];
  readonly #tcp: Server;
  readonly #udp: Socket;

  private constructor(tcp: Server, udp: Socket) {
    this.#tcp = tcp;
    this.#udp = udp;
    tcp.on("connection", (socket) => {
      this.seen.push(`tcp ${socket.remoteAddress}`);
      socket.on("error", () => {});
      socket.end("host\n");
    });
    udp.on("message", (_, { address }) => this.seen.push(`udp ${address}`));
  }

  static async open(): Promise<HostServer> {
    const tcp = createServer().listen(0, "0.0.0.0");
    await once(tcp, "listening");
    const udp = createSocket("udp4").bind((tcp.address() as { port: number }).port, "0.0.0.0");
    await once(udp, "listening");
    return new HostServer(tcp, udp);
  }

  get port(): number {
    return (this.#tcp.address() as { port: number }).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#udp.close();
    this.#tcp.close();
    await once(this.#tcp, "close");
  }
}
