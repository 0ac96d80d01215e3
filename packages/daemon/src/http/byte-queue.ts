/** Bytes between one who pushes them and one who iterates over them, in order. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => {};
  /** Called each time when everything was taken and more is wanted. */
  onEmpty: () => void = () => {};

  /** Bytes that nobody has taken yet. */
  get waiting(): number {
    return this.#bytes;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.length;
        yield chunk;
      } else if (this.#ended) {
        return;
      } else {
        this.onEmpty();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
