import type { Ports } from "../ports/ports.ts";
import type { OperationRecord, SandboxRecord } from "../ports/store.ts";
import { execute } from "./executor.ts";
import { outliveStore } from "./outlive-store.ts";
import type { GivingUp } from "./procedure.ts";
import { procedureOf } from "./procedures.ts";

interface Running {
  readonly ended: Promise<OperationRecord>;
  readonly abort: AbortController;
}

/** The operations at work in this process: each runs once, whoever asks for it. */
export class Runner {
  readonly #ports: Ports;
  readonly #onEnd: () => void;
  readonly #running = new Map<string, Running>();
  readonly #later = new Set<Promise<void>>();

  /** `onEnd` hears of each end of an operation. */
  constructor(ports: Ports, onEnd: () => void = () => {}) {
    this.#ports = ports;
    this.#onEnd = onEnd;
  }

  /** Begins it, or joins it if it is at work. */
  run(sandbox: SandboxRecord, operation: OperationRecord): Promise<OperationRecord> {
    const present = this.#running.get(operation.id);
    if (present !== undefined) return present.ended;
    const abort = new AbortController();
    const ended = outliveStore(this.#ports, { sandbox, operation }, (next) =>
      execute({
        ...next,
        ports: this.#ports,
        procedure: procedureOf(next.operation),
        signal: abort.signal,
        spawn: (child, birth) => this.run(child, birth),
        later: (work) => this.#keep(work),
      }),
    ).finally(() => {
      this.#running.delete(operation.id);
      this.#onEnd();
    });
    this.#running.set(operation.id, { ended, abort });
    // Whoever waits gets the rejection; without anybody it must not end the process.
    ended.catch((error: unknown) =>
      this.#ports.log.error("an operation could not be carried on", { operation: operation.id, cause: String(error) }),
    );
    return ended;
  }

  /** The end of one that is at work here. undefined: it isn't. */
  ended(operationId: string): Promise<OperationRecord> | undefined {
    return this.#running.get(operationId)?.ended;
  }

  /** Asks it to give up. It ends as soon as its phase does, undone if it was not past its commit point. */
  cancel(operationId: string, why: GivingUp): void {
    this.#running.get(operationId)?.abort.abort(why);
  }

  /** Resolves when nothing is at work. */
  async idle(): Promise<void> {
    while (this.#running.size > 0 || this.#later.size > 0) {
      await Promise.allSettled([...[...this.#running.values()].map(({ ended }) => ended), ...this.#later]);
    }
  }

  #keep(work: Promise<void>): void {
    const kept: Promise<void> = work.finally(() => this.#later.delete(kept));
    this.#later.add(kept);
  }
}
