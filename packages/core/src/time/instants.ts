import type { TimeSettings, Timing } from "@torpor/contract";
import type { SandboxRecord } from "../ports/store.ts";

type Instants = Pick<Timing, "expiresAt" | "hardExpiresAt" | "lastActiveAt">;
type Timed = TimeSettings & Pick<Instants, "hardExpiresAt">;

/** Of a sandbox that is made now: its hard ttl runs from here on, whatever becomes of it. */
export function bornAt({ hardTtlMs }: TimeSettings, now: Date): Instants {
  return { expiresAt: null, hardExpiresAt: hardTtlMs == null ? null : after(now, hardTtlMs), lastActiveAt: null };
}

/** Of a sandbox that has a runtime from now on. */
export function runsFrom(sandbox: Timed, now: Date): Pick<Instants, "expiresAt" | "lastActiveAt"> {
  return { expiresAt: expiry(sandbox, sandbox.ttlMs, now), lastActiveAt: sandbox.idleMs == null ? null : now.toISOString() };
}

/** What a change of the settings makes of the instants: what was set begins now, the rest goes on. */
export function changedAt(sandbox: SandboxRecord, changed: TimeSettings, now: Date): Partial<SandboxRecord> {
  const { hardTtlMs } = changed;
  const hard = hardTtlMs === undefined ? {} : { hardExpiresAt: hardTtlMs === null ? null : after(now, hardTtlMs) };
  const next = { ...sandbox, ...changed, ...hard };
  const running = sandbox.state === "running";
  const anew = running && changed.ttlMs !== undefined ? expiry(next, changed.ttlMs, now) : (sandbox.expiresAt ?? null);
  return {
    ...changed,
    ...hard,
    expiresAt: earlier(anew, next.hardExpiresAt),
    ...(running && changed.idleMs !== undefined ? { lastActiveAt: changed.idleMs === null ? null : now.toISOString() } : {}),
  };
}

/** Its ttl begins anew, but never ends earlier than it did. */
export function refreshedAt(sandbox: SandboxRecord, ttlMs: number | null, now: Date): Partial<SandboxRecord> {
  const expiresAt = expiry(sandbox, ttlMs, now);
  const held = sandbox.expiresAt ?? null;
  return {
    expiresAt: expiresAt === null || (held !== null && held > expiresAt) ? held : expiresAt,
    ...(sandbox.idleMs == null ? {} : { lastActiveAt: now.toISOString() }),
  };
}

function expiry({ hardExpiresAt }: Timed, ttlMs: number | null | undefined, now: Date): string | null {
  return ttlMs == null ? null : earlier(after(now, ttlMs), hardExpiresAt);
}

function earlier(at: string | null, limit: string | null | undefined): string | null {
  return at !== null && limit != null && limit < at ? limit : at;
}

function after(now: Date, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}
