import { formatSubnet, type Subnet } from "./subnet.ts";

/** What no sandbox reaches unless its policy says so: private, shared, link-local (metadata services), multicast and reserved ranges (RFC 6890). */
export const refusedRanges = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
] as const;

/** Address at which every sandbox asks for names: the same in all, so that a fork needs no new resolv.conf. */
export const resolverAddress = "169.254.53.53";

export interface RuleSettings {
  readonly instance: string;
  readonly subnet: Subnet;
  /** The host's resolver; null: sandboxes have none. */
  readonly resolver: { readonly address: string; readonly port: number } | null;
}

export function tableName(instance: string): string {
  return `torpor_${instance}`;
}

/** Host ends of the sandboxes' interfaces start with this. */
export function interfacePrefix(instance: string): string {
  return `tp${instance.slice(0, 4)}`;
}

/**
 * The whole rule set of a data directory, for `nft -f`. It goes by interface names with a wildcard, so it is in force for a sandbox before
 * its interface exists and nothing has to be changed when one starts. Loading it replaces the old one in one step.
 */
export function ruleset(settings: RuleSettings): string {
  const table = `inet ${tableName(settings.instance)}`;
  const own = `"${interfacePrefix(settings.instance)}*"`;
  const subnet = formatSubnet(settings.subnet);
  const { resolver } = settings;
  const toResolver = ["udp", "tcp"].map(
    (protocol) => `iifname ${own} ip daddr ${resolverAddress} ${protocol} dport 53 dnat ip to ${resolver?.address}:${resolver?.port}`,
  );
  return `
table ${table} {}
delete table ${table}
table ${table} {
  set refused {
    type ipv4_addr; flags interval
    elements = { ${refusedRanges.join(", ")} }
  }
  chain prerouting {
    type nat hook prerouting priority dstnat
    ${resolver === null ? "" : toResolver.join("\n    ")}
  }
  chain postrouting {
    type nat hook postrouting priority srcnat
    ip saddr ${subnet} oifname != ${own} masquerade
  }
  chain refuse {
    meta l4proto tcp reject with tcp reset comment "gVisor's TCP waits out its time after any other answer"
    reject with icmpx admin-prohibited
  }
  chain input {
    type filter hook input priority filter - 10
    iifname != ${own} accept
    ct state established,related accept
    ct status dnat accept comment "names, to a resolver on the host"
    goto refuse
  }
  chain forward {
    type filter hook forward priority filter - 10
    oifname ${own} ct state established,related accept
    iifname != ${own} oifname ${own} drop comment "nobody outside begins a connection"
    iifname != ${own} accept
    meta nfproto ipv6 drop
    ip saddr != ${subnet} drop
    oifname ${own} goto refuse comment "nor does another sandbox"
    ct state established,related accept
    ct status dnat accept comment "names, to a resolver elsewhere"
    ip daddr @refused goto refuse
  }
}
`;
}
