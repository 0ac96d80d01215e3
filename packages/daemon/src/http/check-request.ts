import { TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";
import { malformed, type Query } from "./query.ts";

/** Longest Idempotency-Key, in characters. */
const keyLimit = 255;

/** Refuses what no route may be asked with. */
export function checkRequest(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
  done(objection(request));
}

function objection(request: FastifyRequest): TorporError | undefined {
  const key = request.headers["idempotency-key"];
  if (key !== undefined && (key.length > keyLimit || key.length === 0)) {
    return new TorporError("invalid_request", `the header Idempotency-Key has ${key.length} characters: it may have 1 to ${keyLimit}`);
  }
  const part = (request.query as Query)[malformed];
  if (part === undefined) return undefined;
  const message = `the query has a malformed percent-encoding near ${JSON.stringify(part)}`;
  return new TorporError("invalid_request", message, { hint: "Encode it as UTF-8, a literal % as %25." });
}
