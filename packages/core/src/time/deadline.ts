import type { SandboxRecord } from "../ports/store.ts";

/** Why a sandbox is ended by itself. */
export type Cause = "ttl" | "hardTtl" | "idle";

export interface Deadline {
  readonly atMs: number;
  readonly cause: Cause;
  readonly command: "pause" | "stop" | "remove";
}

/** The last use that this process knows of, if any; that of the record is up to a tenth of `idleMs` older. */
export type LastUse = number | undefined;

/** What ends the sandbox first, if nothing changes meanwhile. At the same instant the removal wins. */
export function nextDeadline(sandbox: SandboxRecord, lastUse: LastUse): Deadline | undefined {
  if (sandbox.damage !== undefined || sandbox.state === "removing") return undefined;
  const all = [hardTtl(sandbox), ...(sandbox.state === "running" ? [ttl(sandbox), idle(sandbox, lastUse)] : [])];
  return all.reduce((first, next) => (first === undefined || (next !== undefined && next.atMs < first.atMs) ? next : first), undefined);
}

function hardTtl({ hardExpiresAt }: SandboxRecord): Deadline | undefined {
  return hardExpiresAt == null ? undefined : { atMs: Date.parse(hardExpiresAt), cause: "hardTtl", command: "remove" };
}

function ttl({ expiresAt, onTimeout = "pause" }: SandboxRecord): Deadline | undefined {
  return expiresAt == null ? undefined : { atMs: Date.parse(expiresAt), cause: "ttl", command: onTimeout };
}

function idle({ idleMs, lastActiveAt, startedAt, onTimeout = "pause" }: SandboxRecord, lastUse = 0): Deadline | undefined {
  if (idleMs == null) return undefined;
  const recorded = lastActiveAt ?? startedAt;
  const last = Math.max(lastUse, recorded === null ? 0 : Date.parse(recorded));
  return { atMs: last + idleMs, cause: "idle", command: onTimeout };
}
