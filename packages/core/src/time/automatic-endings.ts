/** An ending that a timer asks for. */
interface AutomaticEnding {
  /** It is at work, and this gives it up as far as it can be: at once if a use came since it was announced. */
  began(giveUp: () => void): void;
  ended(): void;
}

/**
 * Endings that nobody asked for. A use of the sandbox calls one off, as long as that is possible. Each is announced before it is decided: a use that came
 * before is seen by the decision, one that comes after it sees the announcement.
 */
export class AutomaticEndings {
  readonly #announced = new Map<string, { readonly callOff: () => void; readonly over: Promise<void> }>();

  announce(sandboxId: string): AutomaticEnding {
    const { promise: over, resolve } = Promise.withResolvers<void>();
    let unwanted = false;
    let giveUp: (() => void) | undefined;
    const callOff = (): void => {
      unwanted = true;
      giveUp?.();
    };
    this.#announced.set(sandboxId, { callOff, over });
    return {
      began(how) {
        giveUp = how;
        if (unwanted) how();
      },
      ended: () => {
        this.#announced.delete(sandboxId);
        resolve();
      },
    };
  }

  /** undefined: none is under way. Resolves when it is over, called off or not. */
  callOff(sandboxId: string): Promise<void> | undefined {
    const announced = this.#announced.get(sandboxId);
    announced?.callOff();
    return announced?.over;
  }
}
