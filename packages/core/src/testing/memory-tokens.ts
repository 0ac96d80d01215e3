import type { Tokens } from "../ports/tokens.ts";

/** Tokens that count up, so that tests are the same each time; signatures that anybody could make. */
export class MemoryTokens implements Tokens {
  #last = 0;

  next(): string {
    const letters = [...String(++this.#last)].map((digit) => "abcdefghij"[Number(digit)]).join("");
    return letters.padStart(32, "z");
  }

  hash(token: string): string {
    return `hash of ${token}`;
  }

  verify(secret: string, body: string, signature: string): boolean {
    return signature === signInMemory(secret, body);
  }
}

export function signInMemory(secret: string, body: string): string {
  return `sha256=${secret} of ${body}`;
}
