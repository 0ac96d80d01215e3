import type { Operation, Sandbox, Timing } from "@torpor/contract";
import { isCancelable } from "./operations/procedures.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";

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
export function sandboxView(record: SandboxRecord, active: OperationRecord | undefined): Sandbox {
  const { version: _version, diskId: _diskId, operationId: _operationId, damage: _damage, ...shown } = record;
  // Records from before the settings have none.
  const restart = record.restart ?? "never";
  return {
    ...noTiming,
    ...shown,
    restart,
    selfControl: record.selfControl ?? [],
    fork: record.fork ?? null,
    operation: active === undefined ? null : { id: active.id, kind: active.kind, phase: active.phase },
  };
}

export function operationView(record: OperationRecord): Operation {
  const { version: _version, request: _request, notes: _notes, damage: _damage, ...shown } = record;
  return { ...shown, cancelable: isCancelable(record) };
}
