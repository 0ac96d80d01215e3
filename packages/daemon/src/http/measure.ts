import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Metrics } from "../metrics/metrics.ts";

/** Counts requests by the pattern of their route, and the clients of sessions that are there. */
export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook("onResponse", async ({ method, routeOptions }, reply) => {
    metrics.requestEnded(method, routeOptions.url, reply.statusCode, reply.elapsedTime);
  });
  app.addHook("preHandler", async (request) => {
    const socket = request.raw.socket as Socket | undefined;
    if (!(request as { ws?: boolean }).ws || socket === undefined) return;
    metrics.socketOpened();
    socket.once("close", () => metrics.socketClosed());
  });
}
