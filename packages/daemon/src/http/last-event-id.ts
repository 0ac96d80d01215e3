import { TorporError } from "@torpor/contract";
import type { FastifyRequest } from "fastify";

/** Of a client that comes back with the address of its first call: its own number is the newer one. */
export function lastEventId({ headers }: FastifyRequest): number | undefined {
  const text = headers["last-event-id"];
  if (text === undefined || text === "") return undefined;
  if (typeof text === "string" && /^\d{1,15}$/.test(text)) return Number(text);
  throw new TorporError("invalid_request", "the header Last-Event-ID is no number of an event");
}
