export interface SignedPost {
  readonly url: string;
  readonly secret: string;
  /** `webhook-id`. */
  readonly id: string;
  /** When it is sent: signed with it, so that an old message can't be sent again by others. */
  readonly at: Date;
  readonly body: string;
}

export interface PostOutcome {
  /** Null: no answer came. */
  readonly status: number | null;
  /** Why it does not count as delivered; null: it does. Never has what the receiver wrote. */
  readonly error: string | null;
  /** So long the receiver wants to be left alone. */
  readonly retryAfterMs?: number;
}

/**
 * The way to receivers of webhooks. A message is delivered when its answer has a status of 2xx; redirects are not followed, and where a
 * message may not go no connection is made.
 */
export interface Receivers {
  /** A new secret of the form that `post` signs with. */
  newSecret(): string;
  /** Throws `target_refused` if messages may not go there, as far as the address alone tells. */
  check(url: string): void;
  /** Sends a message once. Failures are outcomes; rejects with the signal's reason when it aborts first. */
  post(message: SignedPost, signal: AbortSignal): Promise<PostOutcome>;
}
