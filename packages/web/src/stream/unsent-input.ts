/** What was typed and is not known to have arrived, by its position in all that this client has typed. */
export class UnsentInput {
  #chunks: Uint8Array[] = [];
  /** Position of the first byte of `#chunks`. */
  #taken = 0;
  #end = 0;

  /** Where the added bytes stand. */
  add(data: Uint8Array): number {
    const position = this.#end;
    this.#chunks.push(data);
    this.#end += data.length;
    return position;
  }

  /** The process has so many bytes. */
  take(taken: number): void {
    while (this.#taken < taken) {
      const first = this.#chunks[0];
      if (first === undefined) return;
      const drop = Math.min(first.length, taken - this.#taken);
      this.#taken += drop;
      if (drop === first.length) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(drop);
    }
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  /** To be sent again, in order. */
  *[Symbol.iterator](): Generator<{ readonly position: number; readonly data: Uint8Array }> {
    let position = this.#taken;
    for (const data of this.#chunks) {
      yield { position, data };
      position += data.length;
    }
  }
}
