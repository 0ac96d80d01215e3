import type { Patience } from "./patience.ts";

/** Who asks something of a sandbox: calls come one after the other, and those that wait stand in line. */
export class Line {
  readonly #ends = new Map<string, Promise<void>>();
  readonly #turns = new Map<string, Promise<unknown>>();

  /** One look after the other, in the order of arrival. A look takes no time worth speaking of: who waits enters the line. */
  async inTurn<T>(sandboxId: string, look: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(sandboxId) ?? Promise.resolve()).then(look, look);
    this.#turns.set(sandboxId, turn);
    const done = (): void => {
      if (this.#turns.get(sandboxId) === turn) this.#turns.delete(sandboxId);
    };
    turn.then(done, done);
    return turn;
  }

  isEmpty(sandboxId: string): boolean {
    return !this.#ends.has(sandboxId);
  }

  /** Resolves when it is one's turn, with how to leave; undefined when the patience ended first. */
  async enter(sandboxId: string, patience: Patience): Promise<(() => void) | undefined> {
    const ahead = this.#ends.get(sandboxId);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const end = (ahead ?? Promise.resolve()).then(() => left);
    this.#ends.set(sandboxId, end);
    end.then(() => {
      if (this.#ends.get(sandboxId) === end) this.#ends.delete(sandboxId);
    });
    if (ahead === undefined || (await patience.outlasts(ahead))) return leave;
    leave();
    return undefined;
  }
}
