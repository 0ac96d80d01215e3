import type { FastifyReply } from "fastify";

/** Aborts when the answer is done with or the client has gone: of the answer, since a kept connection has many. */
export function leaving(reply: FastifyReply): AbortSignal {
  const left = new AbortController();
  reply.raw.once("close", () => left.abort());
  return left.signal;
}
