import { TorporError } from "@torpor/contract";
import { run } from "../host/spawn.ts";

/** An IPv4 network: `base` as a number, `prefixLength` bits of it fixed. */
export interface Subnet {
  readonly base: number;
  readonly prefixLength: number;
}

/**
 * Each data directory has a /18 of 10.64.0.0/10 for its sandboxes: 4096 of /30, and 256 data directories on a host. The range is the upper
 * part of 10/8, which hosts, Docker (172.16/12) and home routers (192.168/16) use least.
 */
const range = parseSubnet("10.64.0.0/10");
const subnetPrefix = 18;

/** A free /18, starting the search at a place that depends on the seed, so that two data directories rarely meet. */
export async function chooseSubnet(seed: number): Promise<Subnet> {
  const taken = [...(await hostRoutes()).map(({ subnet }) => subnet), ...(await ruledSubnets())];
  const count = 2 ** (subnetPrefix - range.prefixLength);
  for (let i = 0; i < count; i++) {
    const candidate = { base: (range.base + ((seed + i) % count) * 2 ** (32 - subnetPrefix)) >>> 0, prefixLength: subnetPrefix };
    if (!taken.some((subnet) => overlap(subnet, candidate))) {
      return candidate;
    }
  }
  throw new TorporError("engine_unavailable", "Every part of 10.64.0.0/10 is routed elsewhere on this host", {
    hint: "Give the sandboxes a network with torpord --subnet.",
  });
}

/** Routes of others into the subnet; interfaces whose name starts with `ownPrefix` are ours. */
export async function foreignRoutes(subnet: Subnet, ownPrefix: string): Promise<string[]> {
  return (await hostRoutes())
    .filter((route) => !route.device.startsWith(ownPrefix) && overlap(route.subnet, subnet))
    .map((route) => `${formatSubnet(route.subnet)} on ${route.device}`);
}

export function parseSubnet(text: string): Subnet {
  const match = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(text);
  const prefixLength = Number(match?.[2]);
  if (match?.[1] === undefined || prefixLength > 32) {
    throw new TorporError("invalid_request", `${JSON.stringify(text)} is not an IPv4 network like 10.64.0.0/18`);
  }
  return { base: parseAddress(match[1]), prefixLength };
}

export function formatSubnet(subnet: Subnet): string {
  return `${formatAddress(subnet.base)}/${subnet.prefixLength}`;
}

export function parseAddress(text: string): number {
  const parts = text.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) {
    throw new TorporError("invalid_request", `${JSON.stringify(text)} is not an IPv4 address`);
  }
  return parts.reduce((value, part) => value * 256 + part, 0);
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}

export function sizeOf(subnet: Subnet): number {
  return 2 ** (32 - subnet.prefixLength);
}

function overlap(a: Subnet, b: Subnet): boolean {
  const size = Math.max(sizeOf(a), sizeOf(b));
  return Math.floor(a.base / size) === Math.floor(b.base / size);
}

/** Those that rules of the host speak of: of another daemon, too, whose sandboxes all sleep, so that no route leads to them. */
async function ruledSubnets(): Promise<Subnet[]> {
  const { stdout } = await run("nft", ["list", "ruleset"]).catch(() => ({ stdout: "" }));
  const named = [...stdout.matchAll(/ saddr (?:!= )?(\d+\.\d+\.\d+\.\d+\/\d+)/g)].map(([, text = ""]) => parseSubnet(text));
  // A rule about all of 10/8 takes no part of it.
  return named.filter(({ prefixLength }) => prefixLength >= subnetPrefix);
}

async function hostRoutes(): Promise<{ subnet: Subnet; device: string }[]> {
  const { stdout } = await run("ip", ["-4", "-j", "route", "show", "table", "all"]);
  const routes = JSON.parse(stdout || "[]") as { dst: string; dev?: string }[];
  return routes
    .filter((route) => route.dst !== "default" && route.dev !== "lo")
    .map((route) => ({ subnet: parseSubnet(route.dst.includes("/") ? route.dst : `${route.dst}/32`), device: route.dev ?? "" }));
}
