import { z } from "zod";
import { ExposePortRequest, PortList, ReachablePort } from "../port.ts";
import { json, none, queryText, route, SandboxParams } from "../route-shape.ts";

const PortParams = SandboxParams.extend({
  port: queryText(
    z
      .string()
      .regex(/^[1-9]\d{0,4}$/, "a port is a whole number from 1 to 65535")
      .transform(Number)
      .refine((port) => port <= 65_535, "a port is a whole number from 1 to 65535"),
    { type: "integer", minimum: 1, maximum: 65_535 },
  ),
});
const ofSandbox = { tag: "ports", scope: "port" } as const;

export const portRoutes = {
  listPorts: route({
    ...ofSandbox,
    params: SandboxParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/ports",
    summary: "Its ports that have an address.",
    responses: { 200: json(PortList) },
  }),
  exposePort: route({
    ...ofSandbox,
    params: PortParams,
    method: "PUT",
    path: "/v1/sandboxes/{id}/ports/{port}",
    summary: "Give a port an address, which stays over pause, stop and restart; asked again it changes who may use it.",
    body: ExposePortRequest,
    responses: { 200: json(ReachablePort) },
  }),
  unexposePort: route({
    ...ofSandbox,
    params: PortParams,
    method: "DELETE",
    path: "/v1/sandboxes/{id}/ports/{port}",
    summary: "Take a port's address away; connections that are open end.",
    responses: { 204: none },
  }),
  connectPort: route({
    ...ofSandbox,
    params: PortParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/ports/{port}/connect",
    summary:
      "A connection to what listens on a port in the sandbox, over a WebSocket: binary messages are its bytes, an empty one ends a side's own.",
    responses: { 101: { kind: "socket" } },
  }),
} as const;
