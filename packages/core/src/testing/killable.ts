/** A process that can be killed at any call: from then on none of its calls begins, and none that is out comes back. */
export class KillSwitch {
  #killed = false;
  readonly #out = new Set<Promise<unknown>>();

  kill(): void {
    this.#killed = true;
  }

  get killed(): boolean {
    return this.#killed;
  }

  /** The same object, seen from within the process. */
  guard<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, property) => {
        const value: unknown = Reflect.get(object, property, object);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => this.#call(() => Reflect.apply(value, object, given));
      },
    });
  }

  /** Resolves when no call is out any more: what the world is still doing for the dead. */
  async quiet(): Promise<void> {
    while (this.#out.size > 0) await Promise.allSettled(this.#out);
  }

  async pass(): Promise<void> {
    if (this.#killed) await never();
  }

  #call(call: () => unknown): unknown {
    if (this.#killed) return never();
    const result = call();
    if (!(result instanceof Promise)) return result;
    this.#out.add(result);
    const done = () => this.#out.delete(result);
    result.then(done, done);
    return result.then(
      async (value: unknown) => {
        await this.pass();
        return value;
      },
      async (error: unknown) => {
        await this.pass();
        throw error;
      },
    );
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
