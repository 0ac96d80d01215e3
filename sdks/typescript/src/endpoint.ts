import type { TorporError } from "@torpor/contract/error";
import { socketPath, socketPathLimitBytes } from "@torpor/contract/place";
import { createError } from "./errors.ts";

export interface ClientOptions {
  /** The daemon's Unix socket. Default: TORPOR_SOCKET, else torpord.sock in TORPOR_DATA or /var/lib/torpor. */
  readonly socket?: string;
  /** A daemon's address (https://…) in place of a socket. Default: TORPOR_URL. */
  readonly url?: string;
  /** Token for it. Default: TORPOR_TOKEN. */
  readonly token?: string;
}

export interface Endpoint {
  /** Undefined: a Unix socket. */
  readonly url: URL | undefined;
  readonly socket: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As messages call it. */
  readonly name: string;
}

export function endpointOf(options: ClientOptions, environment: Readonly<Record<string, string | undefined>>): Endpoint {
  const address = options.socket === undefined ? (options.url ?? environment.TORPOR_URL) : undefined;
  const token = options.token ?? environment.TORPOR_TOKEN;
  const headers: Record<string, string> = token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
  if (address !== undefined && address !== "") {
    const url = parseUrl(address);
    return { url, socket: "", headers, name: url.origin };
  }
  const socket = options.socket ?? socketPath(environment);
  if (Buffer.byteLength(socket) > socketPathLimitBytes) {
    throw createError("invalid_path", `the socket's path is longer than ${socketPathLimitBytes} bytes: ${socket}`, {
      hint: "Set TORPOR_SOCKET to a shorter one.",
    });
  }
  return { url: undefined, socket, headers, name: socket };
}

function parseUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw createError("invalid_request", `${address} is no address of a daemon`, { hint: "It looks like https://host:port." });
  return url;
}

/** Why nothing answers, and what to do. */
export function unreachable(endpoint: Endpoint, error: NodeJS.ErrnoException): TorporError {
  if (endpoint.url === undefined && (error.code === "ENOENT" || error.code === "ECONNREFUSED")) {
    return createError("daemon_unreachable", `torpord is not running (nothing listens on ${endpoint.name})`, {
      hint: "start it with torpor daemon start",
      cause: error,
    });
  }
  if (endpoint.url === undefined && (error.code === "EACCES" || error.code === "EPERM")) {
    return createError("daemon_unreachable", `no permission to open ${endpoint.name}`, {
      hint: "run it as the user that started torpord, which is root",
      cause: error,
    });
  }
  return createError("daemon_unreachable", `no answer from ${endpoint.name}: ${error.message || error.code}`, {
    ...hintFor(endpoint, error.code ?? ""),
    cause: error,
  });
}

function hintFor({ url }: Endpoint, code: string): { hint?: string } {
  if (url === undefined) return {};
  if (code === "ECONNREFUSED")
    return { hint: `look whether torpord runs there and listens: torpor daemon start --listen ${url.hostname}:${url.port || "443"}` };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return { hint: "look whether the host's name is right" };
  if (/CERT|SELF_SIGNED|ALTNAME|VERIFY/.test(code))
    return { hint: "its certificate is not trusted here: name the authority's with NODE_EXTRA_CA_CERTS=FILE" };
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return { hint: `it does not speak https there: try http://${url.host}` };
  return {};
}
