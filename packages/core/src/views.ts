import type { Operation, Sandbox, Snapshot, Timing } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { unreadableSnapshot } from "./lifecycle/refusals.ts";
import { isCancelable } from "./operations/procedures.ts";
import type { Hold } from "./ports/engine.ts";
import type { OperationRecord, SandboxRecord, SnapshotRecord } from "./ports/store.ts";

const noTiming: Timing = {
  ttlMs: null,
  hardTtlMs: null,
  idleMs: null,
  onTimeout: "pause",
  autoResume: false,
  expiresAt: null,
  hardExpiresAt: null,
  lastActiveAt: null,
};

/** What clients see of the records. */
export function sandboxView(record: SandboxRecord, active: OperationRecord | undefined, hold: Hold | null): Sandbox {
  const { version: _version, diskId: _diskId, operationId: _operationId, damage: _damage, ...shown } = record;
  // Records from before the settings have none.
  const restart = record.restart ?? "never";
  const snapshotId = record.snapshotId ?? null;
  return {
    ...noTiming,
    ...shown,
    team: teamOf(record),
    restart,
    snapshotId,
    selfControl: record.selfControl ?? [],
    fork: record.fork ?? null,
    ports: record.ports ?? [],
    held: hold === null ? null : { reason: "disk_full", ...hold },
    operation: active === undefined ? null : { id: active.id, kind: active.kind, phase: active.phase },
  };
}

export function snapshotView(record: SnapshotRecord): Snapshot {
  const { version: _version, diskId: _diskId, damage, ...kept } = record;
  const shown = { ...kept, team: teamOf(record) };
  if (damage === undefined) return { ...shown, failure: null };
  const { code, message } = unreadableSnapshot(record);
  return { ...shown, failure: { code, message, at: record.createdAt } };
}

export function operationView(record: OperationRecord): Operation {
  const { version: _version, request: _request, notes: _notes, damage: _damage, ...shown } = record;
  return { ...shown, cancelable: isCancelable(record) };
}
