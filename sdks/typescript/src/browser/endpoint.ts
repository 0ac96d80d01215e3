import type { ClientOptions } from "../endpoint.ts";
import { createError } from "../errors.ts";

export interface Endpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** For WebSockets, which have no headers here. */
  readonly token: string;
  readonly name: string;
}

/** Takes the place of endpoint.ts in a browser: by default the server that the page comes from. */
export function endpointOf({ url: address, token = "" }: ClientOptions): Endpoint {
  const given = address ?? (globalThis as { location?: { origin: string } }).location?.origin ?? "";
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw createError("invalid_request", `${given} is no address of a daemon`, { hint: "It looks like https://host:port." });
  return { url, headers: token === "" ? {} : { authorization: `Bearer ${token}` }, token, name: url.origin };
}
