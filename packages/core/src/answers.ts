import { checkSame, keyRecord } from "./idempotency.ts";
import type { Ports } from "./ports/ports.ts";

/** What a call was answered with. */
export interface Answer {
  readonly status: number;
  /** As it was sent; null: nothing. */
  readonly body: string | null;
}

/** A call that may come again. */
export interface RepeatableCall {
  readonly key: string;
  /** What is asked, of what: a key counts within it. */
  readonly scope: string;
  /** Hash of the request; of an upload it is known when its content has been read. */
  fingerprint(): Promise<string>;
  work(): Promise<Answer>;
}

/**
 * Answers of calls that begin no operation, by their keys. The answer is stored when the work is done: if the daemon is killed in between, the retry
 * does it again, so these are calls that can be done twice. A refusal is not remembered: it has changed nothing.
 */
export class Answers {
  readonly #ports: Pick<Ports, "store" | "clock">;
  readonly #atWork = new Map<string, Promise<unknown>>();

  constructor(ports: Pick<Ports, "store" | "clock">) {
    this.#ports = ports;
  }

  async once(call: RepeatableCall): Promise<Answer> {
    const place = `${call.scope}\n${call.key}`;
    for (let other = this.#atWork.get(place); other !== undefined; other = this.#atWork.get(place)) await other.catch(() => {});
    const doing = this.#recallOrDo(call);
    this.#atWork.set(place, doing);
    try {
      return await doing;
    } finally {
      this.#atWork.delete(place);
    }
  }

  async #recallOrDo({ key, scope, fingerprint, work }: RepeatableCall): Promise<Answer> {
    const known = await this.#ports.store.findKey(scope, key, this.#ports.clock.now().toISOString());
    if (known !== undefined) {
      checkSame(known, await fingerprint());
      if (known.answer !== null) return JSON.parse(known.answer) as Answer;
    }
    const answer = await work();
    const record = keyRecord(this.#ports, { key, fingerprint: await fingerprint() }, scope, "", JSON.stringify(answer));
    await this.#ports.store.commit({ keys: [record] });
    return answer;
  }
}
