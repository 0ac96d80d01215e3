import { StoreConflict, type StoreConflictKind } from "@torpor/core";

const uniqueViolation = "23505";
/** What a record belongs to is gone. */
const foreignKeyViolation = "23503";

/** By the index that was violated. */
const conflicts: Readonly<Record<string, StoreConflictKind>> = {
  sandboxes_name: "name",
  sandboxes_address: "address",
  snapshots_name: "snapshot",
  operations_one_running: "operation",
};

export function conflictOf(error: unknown): unknown {
  const { code, constraint, message } = (error ?? {}) as { code?: string; constraint?: string; message?: string };
  if (code !== uniqueViolation && code !== foreignKeyViolation) return error;
  return new StoreConflict(conflicts[constraint ?? ""] ?? "stale", message ?? "");
}
