import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { TorporError } from "@torpor/contract";
import { refusedRanges } from "../network/rules.ts";

/** Of the host itself, its networks, its cloud's metadata, and what embeds such addresses: docs/decisions/0041-where-webhooks-may-go.md. */
const closed = [...refusedRanges, "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fc00::/7", "fe80::/9", "ff00::/8"];

/** Where messages may go: what is not closed, and what was opened. */
export interface Targets {
  allows(address: string): boolean;
  /** Looks a name up, and gives only addresses that are allowed: what was checked is what is connected to. */
  readonly lookup: LookupFunction;
}

export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

/** `opened`: networks in CIDR notation or addresses, with commas between them. */
export function createTargets(opened = ""): Targets {
  const closedList = listOf(closed);
  const openList = listOf(opened.split(",").filter((text) => text !== ""));
  const allows = (address: string): boolean => {
    const family = familyOf(address);
    return openList.check(address, family) || !closedList.check(address, family);
  };
  return {
    allows,
    lookup(hostname, options, callback) {
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        const [first, ...others] = error ? [] : addresses.filter(({ address }) => allows(address));
        if (first === undefined) callback(error ?? refusal(hostname), "", 0);
        else if (options.all === true) callback(null, [first, ...others]);
        else callback(null, first.address, first.family);
      });
    },
  };
}

function refusal(hostname: string): TargetRefused {
  return new TargetRefused(`${hostname} has an address of the host or a private network only, which webhooks are not sent to`);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits, ...rest] = network.trim().split("/");
    const family = isIP(address);
    const longest = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? longest : Number(bits);
    const isNetwork = family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits ?? "0") && prefix <= longest;
    if (!isNetwork)
      throw new TorporError("invalid_request", `${JSON.stringify(network)} is no network: it looks like 10.0.0.0/8, fd00::/8 or 192.0.2.7`);
    list.addSubnet(address, prefix, familyOf(address));
  }
  return list;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}
