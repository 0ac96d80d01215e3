import { readFile, writeFile } from "node:fs/promises";
import { TorporError } from "@torpor/contract";
import type { Network, NetworkLease } from "@torpor/core";
import { run } from "../host/spawn.ts";
import { type RuleSettings, resolverAddress, ruleset, tableName } from "./rules.ts";
import { formatAddress, formatSubnet, parseAddress, type Subnet, sizeOf } from "./subnet.ts";

/** Each sandbox gets a /30: network, gateway (the host's end), its own address, broadcast. */
const blockSize = 4;
const blockPrefix = 30;

/** Sandboxes behind the host's address: veth pairs, routed, NAT by nftables. */
export class NatNetwork implements Network {
  readonly #settings: RuleSettings;
  /** Where the search begins; it moves on, so that an address that was just freed rests for a while. */
  #next: number;

  constructor(settings: RuleSettings) {
    this.#settings = settings;
    this.#next = Math.floor(Math.random() * this.#blocks);
  }

  /** Puts rules and forwarding in force. Repeatable. */
  async open(): Promise<void> {
    await run("nft", ["-f", "-"], { input: ruleset(this.#settings) });
    const forwarding = "/proc/sys/net/ipv4/ip_forward";
    if ((await readFile(forwarding, "utf8")).trim() !== "1") {
      await writeFile(forwarding, "1");
    }
  }

  /** Takes the rules away; only when no sandbox runs. */
  async close(): Promise<void> {
    await run("nft", ["-f", "-"], {
      input: `table inet ${tableName(this.#settings.instance)} {}\ndelete table inet ${tableName(this.#settings.instance)}\n`,
    });
  }

  allocate(taken: ReadonlySet<string>): string {
    for (let i = 0; i < this.#blocks; i++) {
      const block = (this.#next + i) % this.#blocks;
      const address = formatAddress(this.#settings.subnet.base + block * blockSize + 2);
      if (!taken.has(address)) {
        this.#next = (block + 1) % this.#blocks;
        return address;
      }
    }
    throw new TorporError("capacity_exceeded", `All ${this.#blocks} addresses of ${formatSubnet(this.#settings.subnet)} are taken`, {
      hint: "Remove sandboxes that you no longer need.",
    });
  }

  lease(address: string): NetworkLease {
    return {
      address,
      prefixLength: blockPrefix,
      gateway: formatAddress(parseAddress(address) - 1),
      resolver: this.#settings.resolver === null ? null : resolverAddress,
    };
  }

  get subnet(): Subnet {
    return this.#settings.subnet;
  }

  get #blocks(): number {
    return sizeOf(this.#settings.subnet) / blockSize;
  }
}
