import type { Operation, Sandbox } from "@torpor/contract";
import { isCancelable } from "./operations/procedures.ts";
import type { OperationRecord, SandboxRecord } from "./ports/store.ts";

/** What clients see of the records. */
export function sandboxView(record: SandboxRecord, active: OperationRecord | undefined): Sandbox {
  const { version: _version, diskId: _diskId, operationId: _operationId, damage: _damage, ...shown } = record;
  // Records from before the settings have none.
  const restart = record.restart ?? "never";
  return {
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
