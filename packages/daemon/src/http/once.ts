import { createHash } from "node:crypto";
import { idempotencyHeader } from "@torpor/contract";
import type { Once } from "@torpor/core";
import type { FastifyRequest } from "fastify";
import { teamOf } from "./caller.ts";

/** The call's key, if it has one, with a hash of what it asks for. How long it waits is not part of that. */
export function onceOf(request: FastifyRequest, asked: unknown): Once | undefined {
  const key = keyOf(request);
  return key === undefined ? undefined : { key, fingerprint: fingerprintOf(asked) };
}

/** What one team began is no answer to another. */
export function keyOf(request: FastifyRequest): string | undefined {
  const key = request.headers[idempotencyHeader.toLowerCase()];
  if (typeof key !== "string") return undefined;
  const team = teamOf(request);
  return team === undefined ? key : `${team}:${key}`;
}

export function fingerprintOf(asked: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(asked)))
    .digest("hex");
}

/** Equal requests have equal text, whatever the order of their fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, field]) => [key, sorted(field)]));
}

/** Of 32 characters, as ids have. */
const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

/** The id of a session that a call with a key starts: so the guest itself knows whether the call was done. */
export function sessionIdOf(key: string): string {
  const bytes = createHash("sha256").update(key).digest().subarray(0, 16);
  return `se_${Array.from(bytes, (byte) => alphabet[byte & 31]).join("")}`;
}
