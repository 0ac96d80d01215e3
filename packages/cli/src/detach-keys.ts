import { TorporError } from "@torpor/sdk/calls";

export const defaultDetachKeys = "ctrl-p,ctrl-q";

/** Keys with commas between them, each a character or ctrl- and a letter or one of @[\]^_; "none": no keys detach. */
export function parseDetachKeys(text: string): Uint8Array {
  if (text === "none") return new Uint8Array(0);
  return Uint8Array.from(text.split(",").map(keyOf));
}

function keyOf(name: string): number {
  const control = /^ctrl-([a-z@[\\\]^_])$/i.exec(name)?.[1];
  if (control !== undefined) return control.toUpperCase().charCodeAt(0) & 0x1f;
  if (/^[\x20-\x7e]$/.test(name)) return name.charCodeAt(0);
  throw new TorporError("invalid_request", `${JSON.stringify(name)} is no key to detach with`, {
    hint: `Name keys as in ${defaultDetachKeys}, or none.`,
  });
}

/** Finds the detach keys in what is typed. Their beginning is kept back until it is clear that it was none. */
export class DetachKeys {
  readonly #keys: Uint8Array;
  #matched = 0;

  constructor(keys: Uint8Array) {
    this.#keys = keys;
  }

  /** What goes to the session, and whether the keys were typed. What comes after them goes nowhere. */
  filter(typed: Uint8Array): { readonly data: Uint8Array; readonly detach: boolean } {
    if (this.#keys.length === 0) return { data: typed, detach: false };
    const out: number[] = [];
    for (const byte of typed) {
      while (this.#matched > 0 && byte !== this.#keys[this.#matched]) this.#giveUp(out);
      if (byte === this.#keys[this.#matched]) this.#matched++;
      else out.push(byte);
      if (this.#matched === this.#keys.length) return { data: Uint8Array.from(out), detach: true };
    }
    return { data: Uint8Array.from(out), detach: false };
  }

  /** The longest other beginning that what was kept back may still be; the rest was typed. */
  #giveUp(out: number[]): void {
    const kept = this.#keys.subarray(0, this.#matched);
    let length = this.#matched - 1;
    while (length > 0 && !startsWith(kept, kept.subarray(this.#matched - length))) length--;
    out.push(...kept.subarray(0, this.#matched - length));
    this.#matched = length;
  }
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.every((byte, at) => bytes[at] === byte);
}
