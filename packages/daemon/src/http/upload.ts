import type { Readable } from "node:stream";
import { TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";

/** A request's body as chunks. One that breaks off throws, so that what was written so far is never taken for the whole. */
export async function* uploadOf(request: FastifyRequest): AsyncGenerator<Uint8Array> {
  const body = request.body as Readable | undefined;
  if (body === undefined) return;
  try {
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    throw new TorporError("invalid_request", "the upload broke off", { cause: error });
  }
}
