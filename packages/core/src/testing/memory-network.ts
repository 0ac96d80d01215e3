import { TorporError } from "@torpor/contract";
import type { Network, NetworkLease } from "../ports/network.ts";

export class MemoryNetwork implements Network {
  readonly #hosts: number;

  constructor(hosts = 250) {
    this.#hosts = hosts;
  }

  allocate(taken: ReadonlySet<string>): string {
    for (let host = 2; host < this.#hosts + 2; host++) {
      const address = `10.0.0.${host}`;
      if (!taken.has(address)) return address;
    }
    throw new TorporError("capacity_exceeded", `all ${this.#hosts} addresses are taken: remove a sandbox`);
  }

  lease(address: string): NetworkLease {
    return { address, prefixLength: 24, gateway: "10.0.0.1", resolver: "10.0.0.1" };
  }
}
