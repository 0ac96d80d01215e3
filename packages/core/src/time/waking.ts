import { type ErrorCode, TorporError } from "@torpor/contract";
import { toTorporError } from "../failure.ts";
import type { Patience } from "../patience.ts";
import type { Clock } from "../ports/clock.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { Backoff } from "./backoff.ts";

/** After a call's own wait was over. */
const askAgainMs = 1000;

/** Others were faster, or somebody removed it: the caller looks at the sandbox again. */
const moved: ReadonlySet<ErrorCode> = new Set([
  "sandbox_not_found",
  "sandbox_not_running",
  "sandbox_not_paused",
  "operation_active",
  "operation_cancelled",
]);

/** Who resumes: a call, or a wake that was asked for beforehand. */
export type Waker = "autoResume" | "wake";

interface Failed {
  readonly untilMs: number;
  readonly error: TorporError;
}

/**
 * Resumes paused sandboxes for the calls that come to them: one resume for all that come meanwhile. After one that failed, calls are refused for 1 s, then
 * 2 s and so on up to a minute, until it runs again. That is known to this process only: the first call after a restart of the daemon tries at once.
 */
export class Waking {
  readonly #clock: Clock;
  readonly #resume: (sandboxId: string, waker: Waker) => Promise<void>;
  readonly #atWork = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, Failed>();
  readonly #backoff = new Backoff();

  constructor(clock: Clock, resume: (sandboxId: string, waker: Waker) => Promise<void>) {
    this.#clock = clock;
    this.#resume = resume;
  }

  /** Resolves when it is worth looking at the sandbox again. */
  async wake(sandbox: SandboxRecord, patience: Patience, waker: Waker): Promise<void> {
    const failed = this.#failed.get(sandbox.id);
    const leftMs = failed === undefined ? 0 : failed.untilMs - this.#clock.monotonicMs();
    if (failed !== undefined && leftMs > 0) throw resumeFailed(sandbox, failed.error, leftMs);
    const work = this.#atWork.get(sandbox.id) ?? this.#begin(sandbox, waker);
    if (!(await patience.outlasts(work))) throw wakesStill(sandbox);
    await work;
  }

  /** It runs, whoever resumed it, or is gone. */
  forget(sandboxId: string): void {
    this.#failed.delete(sandboxId);
    this.#backoff.clear(sandboxId);
  }

  #begin(sandbox: SandboxRecord, waker: Waker): Promise<void> {
    const work = this.#try(sandbox, waker).finally(() => this.#atWork.delete(sandbox.id));
    this.#atWork.set(sandbox.id, work);
    work.catch(() => {});
    return work;
  }

  async #try(sandbox: SandboxRecord, waker: Waker): Promise<void> {
    try {
      await this.#resume(sandbox.id, waker);
    } catch (cause) {
      const error = toTorporError(cause);
      if (moved.has(error.code)) return;
      // Nothing was tried, so nothing failed: it is the call's own answer, and a top-up ends it at once.
      if (error.code === "budget_exhausted") throw error;
      const pauseMs = this.#backoff.next(sandbox.id);
      this.#failed.set(sandbox.id, { untilMs: this.#clock.monotonicMs() + pauseMs, error });
      throw resumeFailed(sandbox, error, pauseMs);
    }
  }
}

function resumeFailed({ name }: SandboxRecord, { code, message }: TorporError, retryAfterMs: number): TorporError {
  return new TorporError("resume_failed", `sandbox ${name} could not be resumed for this call: ${message}`, {
    hint: `it is tried again after ${Math.ceil(retryAfterMs / 1000)} s; torpor resume ${name} tries at once`,
    details: { cause: code, retryAfterMs: Math.ceil(retryAfterMs) },
  });
}

function wakesStill({ name }: SandboxRecord): TorporError {
  return new TorporError(
    "sandbox_waking",
    `sandbox ${name} is being resumed for this call, which takes longer than the call waits: ask again`,
    {
      details: { retryAfterMs: askAgainMs },
    },
  );
}
