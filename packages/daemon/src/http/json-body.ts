import { TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";

/** Parses a JSON body; an empty one counts as none, so that a call with optional fields only needs no body. */
export function parseJson(_request: FastifyRequest, body: string | Buffer, done: (error: Error | null, value?: unknown) => void): void {
  if (body.length === 0) {
    done(null, undefined);
    return;
  }
  try {
    done(null, JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body as Buffer)));
  } catch (error) {
    done(new TorporError("invalid_request", `the body is not JSON: ${(error as Error).message}`));
  }
}
