import { snapshotNameTaken } from "../lifecycle/refusals.ts";
import type { Ports } from "../ports/ports.ts";
import { type Change, isUnknown, type NewEvent, type OperationRecord, type SandboxRecord, StoreConflict } from "../ports/store.ts";
import type { Outcome, Step } from "./procedure.ts";

/** The records of one operation at work, and what of them is not written yet. */
export class Journal {
  sandbox: SandboxRecord;
  operation: OperationRecord;
  readonly #ports: Ports;
  #written: SandboxRecord;
  #sandboxChanged = false;
  /** The store did not take what was to be written, or nobody knows whether it did. */
  broken: "no" | "failed" | "unknown" = "no";

  constructor(ports: Ports, sandbox: SandboxRecord, operation: OperationRecord) {
    this.#ports = ports;
    this.sandbox = sandbox;
    this.#written = sandbox;
    this.operation = operation;
  }

  stage(step: Step | undefined, phase: string, durationMs: number): void {
    const { result, notes } = this.operation;
    const phases = { ...(result.phases as Record<string, number> | undefined), [phase]: Math.round(durationMs * 100) / 100 };
    this.operation = { ...this.operation, result: { ...result, phases }, notes: { ...notes, ...step?.notes } };
    if (step?.sandbox === undefined) return;
    this.sandbox = { ...this.sandbox, ...step.sandbox };
    this.#sandboxChanged = true;
  }

  /** Before an undo: what was staged of the sandbox and not written did not happen. */
  revert(): void {
    this.sandbox = this.#written;
    this.#sandboxChanged = false;
  }

  /** Writes down what was staged, and which phase comes next. */
  async save(patch: Partial<OperationRecord>): Promise<void> {
    await this.#commit(this.sandbox, { ...this.operation, ...patch }, {});
  }

  /** The last commit: the sandbox's new state, the events and the operation's end, or nothing of it. */
  async end(outcome: Outcome, patch: Partial<OperationRecord>): Promise<void> {
    // A clock that was set back must not end an operation before its beginning.
    const at = later(this.#ports.clock.now().toISOString(), this.operation.startedAt);
    const operation: OperationRecord = {
      ...this.operation,
      ...patch,
      result: { ...this.operation.result, ...outcome.result },
      endedAt: at,
    };
    const events = outcome.events.map((event) => ({ ...event, sandboxId: this.sandbox.id, operationId: operation.id, at }));
    if (outcome.sandbox === "removed") {
      await this.#write({ removed: [{ ...this.sandbox, updatedAt: at }], operations: [operation], events });
      this.operation = { ...operation, version: operation.version + 1 };
      return;
    }
    const sandbox = { ...this.sandbox, ...outcome.sandbox, operationId: null };
    this.#sandboxChanged = true;
    // A fork has not changed its source.
    await this.#commit(
      sandbox,
      operation,
      { events, snapshots: outcome.snapshots ?? [] },
      Object.keys(outcome.sandbox).length === 0 ? sandbox.updatedAt : at,
    );
  }

  async #commit(changed: SandboxRecord, operation: OperationRecord, beside: Beside, updatedAt?: string): Promise<void> {
    const sandbox = { ...changed, updatedAt: later(updatedAt ?? this.#ports.clock.now().toISOString(), this.#written.updatedAt) };
    const withSandbox = this.#sandboxChanged;
    const before = this.operation;
    this.#sandboxChanged = false;
    try {
      await this.#write({ operations: [operation], ...beside, ...(withSandbox ? { sandboxes: [sandbox] } : {}) });
    } catch (error) {
      this.#sandboxChanged ||= withSandbox;
      throw error;
    }
    // The next phase may have staged something meanwhile.
    const { result, notes } = this.operation === before ? operation : this.operation;
    this.operation = { ...operation, result, notes, version: operation.version + 1 };
    if (!withSandbox) return;
    this.#written = { ...sandbox, version: sandbox.version + 1 };
    this.sandbox = this.#sandboxChanged ? { ...this.sandbox, version: this.#written.version } : this.#written;
  }

  async #write(change: Change): Promise<void> {
    try {
      await this.#ports.store.commit(change);
      this.broken = "no";
    } catch (error) {
      this.broken = isUnknown(error) ? "unknown" : "failed";
      // Another one took the name meanwhile: a failure like any other, unlike an operation that somebody else has.
      if (error instanceof StoreConflict && error.kind === "snapshot") throw snapshotNameTaken(change.snapshots?.[0]?.name ?? "");
      throw error;
    }
  }
}

interface Beside {
  readonly events?: readonly NewEvent[];
  readonly snapshots?: Change["snapshots"] & object;
}

/** Times as the records have them sort as text. */
function later(a: string, b: string): string {
  return a < b ? b : a;
}
