import type { OperationRecord } from "./ports/store.ts";

/** What a call led to. `ended` resolves with the operation's last record; undefined: it has ended, or isn't at work in this process. */
export interface Asking {
  readonly sandboxId: string;
  readonly operation: OperationRecord;
  readonly ended: Promise<OperationRecord> | undefined;
}
