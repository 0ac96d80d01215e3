import type { ExposePortRequest, PortList, ReachablePort } from "@torpor/contract";
import { createError } from "../errors.ts";
import type { Transport } from "./transport.ts";

/** Takes the place of port-client.ts in a browser, which has no connections of its own: a port that is exposed has a URL. */
export class PortClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(id: string): Promise<ReachablePort[]> {
    return (await this.#transport.json<PortList>("listPorts", { params: { id } })).ports;
  }

  expose(id: string, port: number, body: ExposePortRequest = {}): Promise<ReachablePort> {
    return this.#transport.json("exposePort", { params: { id, port: String(port) }, body });
  }

  unexpose(id: string, port: number): Promise<void> {
    return this.#transport.json("unexposePort", { params: { id, port: String(port) } });
  }

  connect(_id: string, port: number): Promise<never> {
    return Promise.reject(
      createError("invalid_request", `a browser can't connect to port ${port} of a sandbox`, {
        hint: "Expose it: it has an address then.",
      }),
    );
  }
}
