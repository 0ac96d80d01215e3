/** One output of an interpreter, in which the end of a run is marked, and on stdout its beginning. Bytes come in pieces of any size. */
export class MarkedOutput {
  readonly #begin: string;
  #held = "";
  #outcome: string | undefined;
  #begun: boolean;

  constructor(mark: string, { begins }: { begins: boolean }) {
    this.#begin = `\0${mark}`;
    this.#begun = !begins;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** What follows the mark; undefined until the run is over. */
  get outcome(): string | undefined {
    return this.#outcome;
  }

  /** What the code has put out, in Latin-1: each character a byte. What may be the beginning of the mark is held back. */
  take(data: Uint8Array): string {
    if (this.#outcome !== undefined) return "";
    this.#held += latin1(data);
    const at = this.#held.indexOf(this.#begin);
    if (at >= 0) return this.#atMark(at);
    const from = this.#held.lastIndexOf("\0");
    const keep = from >= 0 && this.#begin.startsWith(this.#held.slice(from)) ? from : this.#held.length;
    return this.#give(keep);
  }

  #atMark(at: number): string {
    const end = this.#held.indexOf("\0", at + 1);
    if (end < 0 || this.#begun) {
      if (end >= 0) this.#outcome = this.#held.slice(at + this.#begin.length, end);
      return this.#give(at);
    }
    this.#begun = true;
    const before = this.#held.slice(0, at);
    this.#held = this.#held.slice(end + 1);
    return before + this.take(new Uint8Array());
  }

  #give(length: number): string {
    const given = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return given;
  }
}

function latin1(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 8192) text += String.fromCharCode(...data.subarray(at, at + 8192));
  return text;
}

export function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
