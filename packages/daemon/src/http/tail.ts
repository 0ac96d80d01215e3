/** The last bytes of a stream, and how many came before them. */
export class Tail {
  readonly #limitBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #sizeBytes = 0;
  lostBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    while (this.#sizeBytes > this.#limitBytes) this.#dropFrom(this.#chunks[0] as Uint8Array);
  }

  text(encoding: BufferEncoding): string {
    return Buffer.concat(this.#chunks).toString(encoding);
  }

  #dropFrom(first: Uint8Array): void {
    const dropped = Math.min(first.length, this.#sizeBytes - this.#limitBytes);
    if (dropped === first.length) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(dropped);
    this.#sizeBytes -= dropped;
    this.lostBytes += dropped;
  }
}
