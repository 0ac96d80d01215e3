import { isIPv6 } from "node:net";
import { TorporError } from "@torpor/contract";

/** Where the API is served beside its socket. */
export interface ListenAddress {
  /** An address or a name of this host. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** So many ports after it are tried when it is taken. */
  readonly spare: number;
}

/** Files with PEM in them. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Listening {
  readonly addresses: readonly ListenAddress[];
  readonly tls: TlsFiles | undefined;
  /** As the world reaches it through a proxy: an origin. */
  readonly publicUrl: URL | undefined;
  /** More names by which it may be called. */
  readonly allowHosts: readonly string[];
}

export interface ListenOptions {
  /** HOST:PORT with commas between them, `auto`, or `off`. */
  readonly listen: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly publicUrl: string | undefined;
  readonly allowHost: string | undefined;
  readonly insecureHttp: boolean;
}

const automatic: ListenAddress = { host: "127.0.0.1", port: 7867, spare: 20 };

export function readListening(options: ListenOptions): Listening {
  const addresses = listOf(options.listen).flatMap((text) => (text === "off" ? [] : [text === "auto" ? automatic : parseAddress(text)]));
  const publicUrl = parsePublicUrl(options.publicUrl);
  const tls = tlsOf(options);
  const open = addresses.find(({ host }) => !isLoopbackHost(host));
  if (open !== undefined && tls === undefined && publicUrl?.protocol !== "https:" && !options.insecureHttp) {
    throw refusal(`${open.host} can be reached from elsewhere, and tokens would cross the network without encryption`, [
      "give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy named by --public-url https://…;",
      "--insecure-http listens all the same",
    ]);
  }
  return { addresses, tls, publicUrl, allowHosts: listOf(options.allowHost).map((host) => host.toLowerCase()) };
}

/** Only processes of this host reach it. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** As it stands in a URL. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function parseAddress(text: string): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw refusal(`--listen ${JSON.stringify(text)} is no address`, [
      "it looks like 127.0.0.1:7867 or [::1]:7867; auto and off are possible too",
    ]);
  }
  // One address, not two: a server for each would be needed.
  return { host: host === "localhost" ? automatic.host : host.toLowerCase(), port: Number(port), spare: 0 };
}

function parsePublicUrl(text: string | undefined): URL | undefined {
  if (text === undefined || text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.pathname !== "/" ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== ""
  ) {
    throw refusal(`--public-url ${JSON.stringify(text)} is no address of a server`, [
      "it looks like https://torpor.example.org, without a path: Torpor has a host name of its own",
    ]);
  }
  return url;
}

function tlsOf({ tlsCert, tlsKey }: ListenOptions): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert !== undefined && tlsKey !== undefined) return { cert: tlsCert, key: tlsKey };
  throw refusal("--tls-cert and --tls-key need each other", ["name a file with the certificates and one with the key, both PEM"]);
}

function listOf(text: string | undefined): string[] {
  return (text ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
}

function refusal(message: string, hint: readonly string[]): TorporError {
  return new TorporError("invalid_request", message, { hint: hint.join(" ") });
}
