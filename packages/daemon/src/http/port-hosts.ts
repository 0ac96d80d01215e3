import type { IncomingMessage } from "node:http";
import { readPortLabel } from "@torpor/contract";
import type { Listening } from "../listening.ts";

/** Every browser takes names below it for this host (RFC 6761). */
const local = "localhost";

/** The host names of exposed ports: a label of their own before the server's name. */
export class PortHosts {
  readonly #domains: readonly string[];
  readonly #publicUrl: URL | undefined;

  constructor({ publicUrl, allowHosts }: Pick<Listening, "publicUrl" | "allowHosts">) {
    this.#publicUrl = publicUrl;
    this.#domains = [local, ...(publicUrl === undefined ? [] : [publicUrl.hostname]), ...allowHosts];
  }

  /** The label that a request is for; undefined: it is for the server itself. */
  labelOf({ headers: { host } }: IncomingMessage): string | undefined {
    const [, label = "", domain = ""] = /^([a-z0-9-]+)\.([^:]+)(?::\d+)?$/.exec((host ?? "").toLowerCase()) ?? [];
    return this.#domains.includes(domain) && readPortLabel(label) !== undefined ? label : undefined;
  }

  /** The address that a label has at a server which listens at some addresses. */
  urlOf(label: string, addresses: readonly string[]): string | null {
    if (this.#publicUrl !== undefined) return `${this.#publicUrl.protocol}//${label}.${this.#publicUrl.host}/`;
    const [address] = addresses;
    if (address === undefined) return null;
    const { protocol, port } = new URL(address);
    return `${protocol}//${label}.${local}${port === "" ? "" : `:${port}`}/`;
  }
}
