import type { CredentialRecord } from "@torpor/core";
import type { FastifyReply, FastifyRequest } from "fastify";

/** A timer's longest time, 24 days: a call that lasts longer is cut then. */
const longestMs = 2 ** 31 - 1;

/** Calls at work, each with the credential that let it in: they end with it. A terminal or a stream of events may be open for days. */
export class LiveCalls {
  readonly #live = new Map<FastifyRequest, CredentialRecord>();

  add(request: FastifyRequest, reply: FastifyReply, credential: CredentialRecord, now: number): void {
    const { socket } = request.raw;
    this.#live.set(request, credential);
    const { expiresAt } = credential;
    const timer =
      expiresAt === null ? undefined : setTimeout(() => socket.destroy(), Math.min(Date.parse(expiresAt) - now, longestMs)).unref();
    const done = (): void => {
      clearTimeout(timer);
      this.#live.delete(request);
    };
    // A connection that became a WebSocket has no answer that could end.
    if (request.ws) socket.once("close", done);
    else reply.raw.once("close", done);
  }

  /** Breaks the connections of those whose credential has ended. */
  cut(ended: (credential: CredentialRecord) => boolean): void {
    for (const [{ raw }, credential] of this.#live) if (ended(credential)) raw.socket.destroy();
  }
}
