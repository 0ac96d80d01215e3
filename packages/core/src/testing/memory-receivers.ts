import { TorporError } from "@torpor/contract";
import type { PostOutcome, Receivers, SignedPost } from "../ports/receivers.ts";

type Answer = (message: SignedPost) => PostOutcome | Promise<PostOutcome>;

/** Receivers that answer as told, each under its address; where there is none, nothing answers. */
export class MemoryReceivers implements Receivers {
  readonly posts: SignedPost[] = [];
  readonly #answers = new Map<string, Answer>();
  #secrets = 0;

  /** From now on. */
  at(url: string, answer: Answer): void {
    this.#answers.set(url, answer);
  }

  newSecret(): string {
    return `whsec_${String(++this.#secrets).padStart(32, "A")}`;
  }

  check(url: string): void {
    if (url.includes("refused")) throw new TorporError("target_refused", `webhooks may not be sent to ${url}`);
  }

  async post(message: SignedPost, signal: AbortSignal): Promise<PostOutcome> {
    signal.throwIfAborted();
    this.posts.push(message);
    const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const answer = this.#answers.get(message.url) ?? (() => ({ status: null, error: "nothing answers" }));
    return Promise.race([answer(message), aborted]);
  }
}

export const taken: PostOutcome = { status: 204, error: null };
export const down: PostOutcome = { status: null, error: "it is down" };
