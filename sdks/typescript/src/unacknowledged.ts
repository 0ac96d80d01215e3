/** Input that the process is not known to have: it is sent again after a cut. */
export class Unacknowledged {
  /** Of all that was written, bytes that the process has. */
  #taken = 0;
  #bytes = 0;
  #chunks: Uint8Array[] = [];

  get bytes(): number {
    return this.#bytes;
  }

  /** Gives the position of its first byte. */
  add(data: Uint8Array): number {
    const position = this.#taken + this.#bytes;
    this.#chunks.push(data);
    this.#bytes += data.length;
    return position;
  }

  /** The process has so many of all bytes. */
  take(taken: number): void {
    let fresh = Math.min(Math.max(0, taken - this.#taken), this.#bytes);
    this.#taken += fresh;
    this.#bytes -= fresh;
    while (fresh > 0) {
      const first = this.#chunks[0] as Uint8Array;
      if (first.length > fresh) this.#chunks[0] = first.subarray(fresh);
      else this.#chunks.shift();
      fresh -= Math.min(fresh, first.length);
    }
  }

  /** All of it, with positions. */
  *all(): Generator<{ readonly position: number; readonly data: Uint8Array }> {
    let position = this.#taken;
    for (const data of this.#chunks) {
      yield { position, data };
      position += data.length;
    }
  }
}
