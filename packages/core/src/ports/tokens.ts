/** What is secret about an address, and what proves that a call may use it. */
export interface Tokens {
  /** 32 characters of a-z2-7 that nobody guesses. */
  next(): string;
  /** What is kept in place of a token: from it the token can't be had. */
  hash(token: string): string;
  /** Whether the signature, `sha256=` and hex digits, is the HMAC-SHA256 of the base64 body; takes as long whatever is wrong. */
  verify(secret: string, body: string, signature: string): boolean;
}
