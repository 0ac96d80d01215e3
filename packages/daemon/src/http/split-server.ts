import type { EventEmitter } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { PortProxy } from "./port-proxy.ts";

/** One server for the API and for exposed ports, which are told apart by the host name before anything else is read. */
export function splitServer(
  api: RequestListener,
  upgrades: EventEmitter,
  proxy: PortProxy,
  tls: { readonly cert: Buffer; readonly key: Buffer } | undefined,
): Server {
  const handle: RequestListener = (request, response) =>
    void (proxy.claims(request) ? proxy.serve(request, response) : api(request, response));
  const server = tls === undefined ? createServer(handle) : createSecureServer(tls, handle);
  server.requestTimeout = 0;
  // Longer than those of the usual proxies in front, so that none sends into a connection that is just being closed.
  server.keepAliveTimeout = 72_000;
  server.on("upgrade", (request, socket, head) => {
    if (proxy.claims(request)) void proxy.upgrade(request, socket, head);
    else upgrades.emit("upgrade", request, socket, head);
  });
  return server;
}
