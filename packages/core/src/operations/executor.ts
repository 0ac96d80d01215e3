import { TorporError, toErrorBody } from "@torpor/contract";
import { describeError, toTorporError } from "../failure.ts";
import type { Ports } from "../ports/ports.ts";
import { type OperationRecord, type SandboxRecord, StoreConflict } from "../ports/store.ts";
import { Journal } from "./journal.ts";
import type { GivingUp, Outcome, Phase, Procedure, Work } from "./procedure.ts";
import { allEnded } from "./runtime.ts";

export interface Execution {
  readonly ports: Ports;
  readonly procedure: Procedure;
  readonly sandbox: SandboxRecord;
  readonly operation: OperationRecord;
  readonly signal: AbortSignal;
  readonly spawn: Work["spawn"];
  /** Takes work that nobody has to wait for. */
  readonly later: (work: Promise<void>) => void;
}

/** More attempts than that (the daemon was killed each time) and it is undone, lest it kills the daemon for ever. */
const attemptLimit = 3;
/** Past the commit point a phase is tried so often before the operation counts as failed, with growing pauses. */
const forwardTries = 3;
const forwardPauseMs = 100;

/** Runs a begun operation to its end, which is in the record that it returns. Rejects only if the store fails. */
export async function execute(execution: Execution): Promise<OperationRecord> {
  const { ports, procedure } = execution;
  const run = new Run(execution);
  let outcome: Outcome;
  try {
    await run.phases();
    await run.failpoint("commit");
    outcome = procedure.succeed(run.work());
    const status = outcome.error === undefined ? "succeeded" : "failed";
    await run.journal.end(outcome, { status, phase: "done", error: outcome.error === undefined ? null : toErrorBody(outcome.error).error });
  } catch (error) {
    await run.entry.catch(() => {});
    // Somebody else has the operation: it is theirs now. Or the store failed where there may be no way back: it goes on when the store does.
    if (error instanceof StoreConflict || run.mustGoForward) throw error;
    outcome = await run.fail(error);
  }
  await run.failpoint("ended");
  const freed = free(ports, outcome);
  if (procedure.freeLater) execution.later(freed);
  else await freed;
  return run.journal.operation;
}

class Run {
  readonly journal: Journal;
  readonly #execution: Execution;
  readonly #names: readonly string[];
  #index: number;
  /** A journal entry that is being written beside the phase at work. */
  entry: Promise<void> = Promise.resolve();

  constructor(execution: Execution) {
    const { ports, sandbox, operation, procedure } = execution;
    this.#execution = execution;
    this.journal = new Journal(ports, sandbox, operation);
    this.#names = procedure.phases.map((phase) => phase.name);
    this.#index = Math.max(0, this.#names.indexOf(operation.phase));
  }

  async phases(): Promise<void> {
    const { procedure } = this.#execution;
    this.#startAgain();
    for (; this.#index < procedure.phases.length; this.#index++) {
      const phase = procedure.phases[this.#index] as Phase;
      this.#throwIfCancelled();
      await this.failpoint(phase.name);
      await allEnded([this.#runPhase(phase), this.entry]);
      // Here too: after the last phase before the commit point there is no other look before it is too late.
      this.#throwIfCancelled();
      const next = this.#names[this.#index + 1];
      if (next === undefined || phase.joined) continue;
      await this.failpoint(`${phase.name}.done`);
      this.entry = this.journal.save({ phase: next });
      if (!phase.beside) await this.entry;
      // Whoever fails before the next phase has ended hears of it there.
      else this.entry.catch(() => {});
    }
    this.#throwIfCancelled();
  }

  async fail(cause: unknown): Promise<Outcome> {
    const { ports, procedure, signal } = this.#execution;
    const committed = this.committed;
    const error = signal.aborted && !committed ? this.#givenUp() : toTorporError(cause);
    this.journal.revert();
    const { id, kind, sandboxId, phase } = this.journal.operation;
    const level = error.code === "operation_cancelled" ? "info" : "error";
    ports.log[level](`${kind} failed`, {
      operation: id,
      sandbox: sandboxId,
      phase: this.#names[this.#index] ?? phase,
      cause: describeError(cause),
    });
    await this.failpoint("undo");
    if (!committed) await procedure.undo(this.work());
    await this.failpoint("undo.done");
    const outcome = await procedure.fail(this.work(), { error, committed, superseded: signal.reason === "removal" });
    const failed = { type: `${kind}.failed`, data: { code: error.code, message: error.message } };
    await this.journal.end(
      { ...outcome, events: [failed, ...outcome.events] },
      { status: "failed", phase: this.#names[this.#index] ?? phase, error: toErrorBody(error).error },
    );
    return outcome;
  }

  work(): Work {
    const { ports, signal, spawn } = this.#execution;
    const { sandbox, operation } = this.journal;
    return { ports, signal, spawn, sandbox, operation, repeated: operation.attempt > 1 };
  }

  async failpoint(step: string): Promise<void> {
    await this.#execution.ports.failpoint?.(`${this.#execution.procedure.kind}.${step}`);
  }

  /** After a crash: from the phase that was journaled, or from the one that it names. */
  #startAgain(): void {
    const { procedure } = this.#execution;
    const { attempt, kind, phase } = this.journal.operation;
    if (attempt === 1 || this.committed) return;
    const interrupted = procedure.phases[this.#index] as Phase;
    if (interrupted.giveUpOnCrash || attempt > attemptLimit) {
      throw new TorporError("shutting_down", `the daemon ended in phase ${phase} of this ${kind}: it was undone`, { hint: "ask again" });
    }
    if (interrupted.redoFrom !== undefined) this.#index = this.#names.indexOf(interrupted.redoFrom);
  }

  async #runPhase(phase: Phase): Promise<void> {
    const { clock } = this.#execution.ports;
    const began = clock.monotonicMs();
    for (let tries = 1; ; tries++) {
      try {
        const step = await phase.run(this.work());
        this.journal.stage(step, phase.name, clock.monotonicMs() - began);
        return;
      } catch (error) {
        if (!this.committed || tries === forwardTries) throw error;
        await clock.sleep(forwardPauseMs * 2 ** tries);
      }
    }
  }

  /** An undo could take away what the store has as committed. */
  get mustGoForward(): boolean {
    const { broken } = this.journal;
    return broken === "unknown" || (broken === "failed" && this.committed);
  }

  get committed(): boolean {
    const { commitPoint } = this.#execution.procedure;
    return commitPoint !== null && this.#index >= this.#names.indexOf(commitPoint);
  }

  #throwIfCancelled(): void {
    if (this.#execution.signal.aborted && !this.committed) throw this.#givenUp();
  }

  /** The first cause, also when the phase then ended with a failure of its own. */
  #givenUp(): TorporError {
    const { sandbox, operation } = this.journal;
    const why: GivingUp = this.#execution.signal.reason;
    return new TorporError(
      "operation_cancelled",
      `the ${operation.kind} of sandbox ${sandbox.name} was given up: ${whys[why](sandbox.name)}`,
    );
  }
}

const whys: Readonly<Record<GivingUp, (name: string) => string>> = {
  removal: (name) => `sandbox ${name} is being removed`,
  request: () => "its cancellation was asked for",
  use: () => "the sandbox was used meanwhile",
};

async function free(ports: Ports, { garbage }: Outcome): Promise<void> {
  const all = [
    ...(garbage?.checkpoints ?? []).map((id) => ports.checkpoints.remove(id)),
    ...(garbage?.disks ?? []).map((id) => ports.disks.remove(id)),
  ];
  for (const result of await Promise.allSettled(all)) {
    if (result.status === "rejected")
      ports.log.error("freeing a leftover failed: the next start frees it", { cause: describeError(result.reason) });
  }
}
