import { describe, expect, test } from "vitest";
import type { Tokens } from "../ports/tokens.ts";

/** `sign`: as a caller signs the base64 body. */
export function tokensConformance(name: string, tokens: Tokens, sign: (secret: string, body: string) => string): void {
  describe(`${name} keeps the contract of tokens`, () => {
    test("gives each token once, and what is kept of it tells only that it is the same", () => {
      const [one, two] = [tokens.next(), tokens.next()];
      expect(one).toMatch(/^[a-z2-7]{32}$/);
      expect(one).not.toBe(two);
      expect(tokens.hash(one)).toBe(tokens.hash(one));
      expect(tokens.hash(one)).not.toBe(tokens.hash(two));
    });

    test("knows a signature of the body by the secret, and nothing else", () => {
      const body = "AP8=";
      const signature = sign("secret", body);
      expect(tokens.verify("secret", body, signature)).toBe(true);
      for (const wrong of ["", "sha256=", "sha256=00", signature.slice(7), `${signature}0`, `${signature.slice(0, -1)}x`]) {
        expect(tokens.verify("secret", body, wrong)).toBe(false);
      }
      expect(tokens.verify("other", body, signature)).toBe(false);
      expect(tokens.verify("secret", "", signature)).toBe(false);
    });
  });
}
