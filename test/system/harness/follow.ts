import type { SessionEnd } from "@torpor/contract";
import type { SessionFrame, SessionStream } from "@torpor/sdk";
import { patienceMs } from "./inside.ts";

/** Reads a session's stream in the background: what came so far, what came last, how it ended. */
export class Follower {
  readonly stream: SessionStream;
  text = "";
  lastSeq = 0;
  sessionId = "";
  pid = 0;
  end: SessionEnd | undefined;
  failure: unknown;
  readonly finished: Promise<void>;
  #wake: () => void = () => {};
  #changed = this.#next();

  constructor(stream: SessionStream) {
    this.stream = stream;
    this.finished = this.#read();
  }

  /** Resolves once the condition holds; rejects when the stream is over before, or after the limit. */
  async until(condition: (follower: this) => boolean, limitMs = patienceMs): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!condition(this)) {
      const left = deadline - performance.now();
      if (this.end !== undefined || this.failure !== undefined || left <= 0) {
        throw new Error(
          `never came true: end ${JSON.stringify(this.end)}, failure ${this.failure}, output ${JSON.stringify(this.text.slice(-2000))}`,
        );
      }
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([this.#changed, new Promise((resolve) => (timer = setTimeout(resolve, left)))]);
      clearTimeout(timer);
    }
  }

  /** Types into the session and waits for what it answers. */
  async say(input: string, condition: (fresh: string) => boolean): Promise<string> {
    const from = this.text.length;
    await this.stream.write(Buffer.from(input));
    await this.until(() => condition(this.text.slice(from)));
    return this.text.slice(from);
  }

  async #read(): Promise<void> {
    try {
      for await (const frame of this.stream) {
        this.#take(frame);
        this.#wake();
      }
    } catch (error) {
      this.failure = error;
    }
    this.#wake();
  }

  #take(frame: SessionFrame): void {
    if (frame.type === "started") {
      this.sessionId = frame.session.id;
      this.pid = frame.session.pid;
    } else if (frame.type === "output") {
      this.text += Buffer.from(frame.data).toString("latin1");
      this.lastSeq = frame.seq;
    } else if (frame.type === "end") {
      this.end = frame.end;
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#changed = this.#next();
        resolve();
      };
    });
  }
}
