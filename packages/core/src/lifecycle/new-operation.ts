import type { OperationRecord } from "../ports/store.ts";

type Given = Pick<OperationRecord, "id" | "kind" | "sandboxId" | "phase" | "actor" | "request" | "notes">;

/** The record of an operation that begins at `at`, not yet committed. */
export function newOperation(at: string, given: Given): OperationRecord {
  return { ...given, version: 0, status: "running", attempt: 1, error: null, result: {}, startedAt: at, endedAt: null };
}
