import { idempotencyHeader, idempotencyKeyLimit, idempotencyKeyPattern, TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";
import { malformed, type Query } from "./query.ts";

/** Refuses what no route may be asked with. */
export function checkRequest(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(objection(request));
}

function objection(request: FastifyRequest): TorporError | undefined {
  const key = request.headers[idempotencyHeader.toLowerCase()];
  if (key !== undefined && (typeof key !== "string" || !idempotencyKeyPattern.test(key))) {
    const found = `the header ${idempotencyHeader} has ${key.length} characters`;
    return new TorporError("invalid_request", `${found}: it may have 1 to ${idempotencyKeyLimit}, of visible ASCII`);
  }
  const part = (request.query as Query)[malformed];
  if (part === undefined) return undefined;
  const message = `the query has a malformed percent-encoding near ${JSON.stringify(part)}`;
  return new TorporError("invalid_request", message, { hint: "Encode it as UTF-8, a literal % as %25." });
}
