import type { ExposePortRequest, PortList, ReachablePort } from "@torpor/contract";
import type { Transport } from "./transport.ts";

/** What can be asked about ports of sandboxes wherever the client runs. `id` is a sandbox's id or name. */
export class PortCalls<T extends Pick<Transport, "json"> = Transport> {
  protected readonly transport: T;

  constructor(transport: T) {
    this.transport = transport;
  }

  /** Those that have an address. */
  async list(id: string): Promise<ReachablePort[]> {
    return (await this.transport.json<PortList>("listPorts", { params: { id } })).ports;
  }

  /** Gives a port an address, which stays over pause, stop and restart. */
  expose(id: string, port: number, body: ExposePortRequest = {}): Promise<ReachablePort> {
    return this.transport.json("exposePort", { params: { id, port: String(port) }, body });
  }

  unexpose(id: string, port: number): Promise<void> {
    return this.transport.json("unexposePort", { params: { id, port: String(port) } });
  }
}
