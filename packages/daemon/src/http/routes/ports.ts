import type { WebSocket } from "@fastify/websocket";
import { type ExposedPort, routes, toErrorBody } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { ByteQueue } from "../byte-queue.ts";
import { toTorporError } from "../error-answer.ts";
import { serve, serveSocket } from "../register.ts";
import type { Served } from "../served.ts";

/** Bytes that may wait for the program before the client is held up, and for the client before the program is. */
const waitingBytes = 512 * 1024;
/** The connection broke off at the program's side (RFC 6455: an unexpected condition). */
const closeBroken = 1011;

export function servePorts(app: FastifyInstance, { lifecycle, portUrl }: Served): void {
  const reachable = (exposed: ExposedPort) => ({ ...exposed, url: portUrl(exposed.label) });
  serve(app, routes.listPorts, async ({ params }) => {
    const { ports = [] } = await lifecycle.get(params.id);
    return { ports: ports.map(reachable) };
  });
  serve(app, routes.exposePort, async ({ params, body }) => reachable(await lifecycle.expose(params.id, params.port, body)));
  serve(app, routes.unexposePort, async ({ params }) => lifecycle.unexpose(params.id, params.port));
  serveSocket(
    app,
    routes.connectPort,
    async ({ params, request }) => {
      const input = new ByteQueue();
      const left = new AbortController();
      request.raw.socket.once("close", () => left.abort());
      const { ports } = await lifecycle.guest(params.id);
      return { input, left, ...(await ports.connect(params.port, input, left.signal)) };
    },
    (socket, { input, left, content }, request) => {
      takeInput(socket, input, left);
      sendOutput(socket, content).catch((error: unknown) => {
        if (socket.readyState !== socket.OPEN) return;
        socket.close(closeBroken, toErrorBody(toTorporError(error, request)).error.code);
      });
    },
  );
}

function takeInput(socket: WebSocket, input: ByteQueue, left: AbortController): void {
  input.onEmpty = () => socket.resume();
  socket.on("message", (data) => {
    const chunk = data as Buffer;
    if (chunk.length === 0) input.end();
    else input.push(chunk);
    if (input.waiting > waitingBytes) socket.pause();
  });
  socket.once("close", () => {
    input.end();
    left.abort();
  });
}

async function sendOutput(socket: WebSocket, content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of content) {
    if (socket.bufferedAmount + chunk.length <= waitingBytes) socket.send(chunk);
    else await new Promise<void>((resolve) => socket.send(chunk, () => resolve()));
  }
  socket.send(new Uint8Array(0));
}
