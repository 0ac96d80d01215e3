interface Piece {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly end: boolean;
}

/** Input of one connection that waits for the process, as one run of bytes. */
export class InputQueue {
  /** Position of the first byte that waits; undefined until the client has told where it stands. */
  #base: number | undefined;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #end = false;

  constructor(base: number | undefined) {
    this.#base = base;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0 && !this.#end;
  }

  /** Without a position it stands after what came before. What is said twice counts once; a gap is an objection. */
  add(position: number | undefined, data: Uint8Array): string | undefined {
    if (this.#end) return "input came after its end";
    this.#base ??= position ?? 0;
    const next = this.#base + this.#bytes;
    const from = position ?? next;
    if (from > next) return `input has a gap: ${next} bytes came, these begin at ${from}`;
    const fresh = data.subarray(next - from);
    if (fresh.length === 0) return undefined;
    this.#chunks.push(fresh);
    this.#bytes += fresh.length;
    return undefined;
  }

  end(): void {
    this.#end = true;
  }

  /** All that waits. */
  take(): Piece {
    const data = this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks);
    const offset = this.#base ?? 0;
    this.#chunks = [];
    this.#bytes = 0;
    if (this.#base !== undefined) this.#base += data.length;
    return { offset, data, end: this.#end };
  }

  /** It was not taken, or not whole. */
  putBack({ offset, data }: Piece): void {
    this.#base = offset;
    if (data.length > 0) this.#chunks.unshift(data);
    this.#bytes += data.length;
  }
}
