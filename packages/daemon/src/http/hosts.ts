import { isIP } from "node:net";
import { TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";
import { isLoopbackHost } from "../listening.ts";

export interface HostsOptions {
  /** Where it listens. */
  readonly host: string;
  readonly protocol: "http" | "https";
  readonly publicUrl: URL | undefined;
  readonly allowHosts: readonly string[];
}

/** The names by which a server may be called, and the pages that may call it with a browser's cookie. */
export class Hosts {
  readonly #options: HostsOptions;

  constructor(options: HostsOptions) {
    this.#options = options;
  }

  /** Refuses a name that somebody made point here to have their page's calls taken for this server's own (DNS rebinding). */
  check({ headers: { host } }: FastifyRequest): void {
    const name = host === undefined ? undefined : hostOf(host);
    if (name !== undefined && this.#knows(name.hostname)) return;
    throw new TorporError("forbidden", `torpord is called by a name that it does not know: ${JSON.stringify((host ?? "").slice(0, 200))}`, {
      hint: "use an address that torpor info shows, or start torpord with --allow-host NAME or --public-url URL",
    });
  }

  /** Refuses what a page of another origin sends, which browsers send with the cookie of this one too. */
  checkOrigin({ headers: { host, origin } }: FastifyRequest): void {
    const { protocol, publicUrl } = this.#options;
    const own = host === undefined ? undefined : hostOf(host, protocol)?.origin;
    if (origin !== undefined && (origin === own || origin === publicUrl?.origin)) return;
    const from =
      origin === undefined ? "does not say which page it comes from" : `comes from another page: ${JSON.stringify(origin.slice(0, 200))}`;
    throw new TorporError("forbidden", `the call has a browser's cookie and ${from}`, {
      hint: "programs send a token (Authorization: Bearer); behind a proxy start torpord with --public-url and the address that browsers use",
    });
  }

  /** Refuses a read that a page of another origin makes: it can't see the answer, but a read is use of a sandbox, and may wake it. */
  checkReader(request: FastifyRequest): void {
    const site = request.headers["sec-fetch-site"];
    const foreign = site === "cross-site" || site === "same-site";
    if (foreign || request.headers.origin !== undefined) this.checkOrigin(request);
  }

  /** Whether the browser that sent it uses https, so that its cookie may be kept from http. */
  isSecure({ headers: { host } }: FastifyRequest): boolean {
    const { protocol, publicUrl } = this.#options;
    return protocol === "https" || (publicUrl?.protocol === "https:" && host === publicUrl.host);
  }

  /** Of who calls; behind the proxy of a public URL the one that the proxy saw. */
  addressOf({ headers, ip }: FastifyRequest): string {
    const seen = headers["x-forwarded-for"];
    if (this.#options.publicUrl === undefined || typeof seen !== "string" || !isLoopbackHost(ip)) return ip;
    const nearest = seen.split(",").at(-1)?.trim() ?? "";
    return isIP(nearest) === 0 ? ip : nearest;
  }

  /** An address as a name can't be made to point here by anybody. */
  #knows(name: string): boolean {
    const { host, publicUrl, allowHosts } = this.#options;
    const open = host === "0.0.0.0" || host === "::";
    return isLoopbackHost(name) || name === host || name === publicUrl?.hostname || allowHosts.includes(name) || (open && isIP(name) !== 0);
  }
}

function hostOf(host: string, protocol = "http"): { readonly hostname: string; readonly origin: string } | undefined {
  const text = `${protocol}://${host}`;
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(text)) return undefined;
  const { hostname, origin } = new URL(text);
  return { hostname: hostname.replace(/^\[(.*)\]$/, "$1"), origin };
}
