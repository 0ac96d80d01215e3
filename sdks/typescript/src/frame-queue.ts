/** Bytes that may wait for the reader; then the connection is not read, and the process waits or goes on without this reader. */
const waitingBytes = 1024 * 1024;

/** What has come and was not read yet. `hold` is told when the connection is not to be read, and when it is again. */
export class FrameQueue<T> implements AsyncIterable<T> {
  readonly #hold: (held: boolean) => void;
  #waiting: { readonly item: T; readonly bytes: number }[] = [];
  #bytes = 0;
  #held = false;
  #finished = false;
  #wake: () => void = () => {};

  constructor(hold: (held: boolean) => void) {
    this.#hold = hold;
  }

  add(item: T, bytes: number): void {
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    if (!this.#held && this.#bytes > waitingBytes) this.#setHeld(true);
    this.#wake();
  }

  /** Nothing comes any more; what is there can still be read. */
  finish(): void {
    this.#finished = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const first = this.#waiting.shift();
      if (first !== undefined) {
        this.#bytes -= first.bytes;
        if (this.#held && this.#bytes <= waitingBytes / 2) this.#setHeld(false);
        yield first.item;
      } else if (this.#finished) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #setHeld(held: boolean): void {
    this.#held = held;
    this.#hold(held);
  }
}
