import { readFile } from "node:fs/promises";
import { TorporError } from "@torpor/contract";
import { parseAddress } from "./subnet.ts";

export interface Resolver {
  readonly address: string;
  readonly port: number;
}

/** The resolver of sandboxes: `text` ("10.0.0.2" or "10.0.0.2:5353") if given, else the host's first IPv4 nameserver. null: there is none. */
export async function findResolver(text: string | undefined): Promise<Resolver | null> {
  if (text !== undefined) {
    const [address = "", port = "53"] = text.split(":");
    if (!/^\d+$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      throw new TorporError("invalid_request", `${JSON.stringify(text)} is not a resolver like 10.0.0.2 or 10.0.0.2:53`);
    }
    parseAddress(address);
    return { address, port: Number(port) };
  }
  const configuration = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const address = /^\s*nameserver\s+(\d+\.\d+\.\d+\.\d+)\s*$/m.exec(configuration)?.[1];
  return address === undefined ? null : { address, port: 53 };
}

export function isLoopback(resolver: Resolver | null): boolean {
  return resolver?.address.startsWith("127.") === true;
}
