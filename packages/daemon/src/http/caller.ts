import type { Caller } from "@torpor/core";
import type { FastifyRequest } from "fastify";

const callers = new WeakMap<FastifyRequest, Caller>();

export function admit(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** Who calls. Every route but the public ones has one. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error(`nobody was let in for ${request.method} ${request.routeOptions.url}`);
  return caller;
}

/** The one team whose things the caller sees; undefined: those of all, or nobody was let in. */
export function teamOf(request: FastifyRequest): string | undefined {
  return callers.get(request)?.team ?? undefined;
}
