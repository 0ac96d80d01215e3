import type { TorporClient } from "@torpor/sdk";

export interface Count {
  readonly count: number;
  readonly pid: number;
}

/** count.py in a sandbox, read through its session's journal, which is in memory too and survives with it. */
export class Counter {
  readonly #client: TorporClient;
  readonly #sandbox: string;
  readonly #sessionId: string;
  #seq: number;
  last: Count;

  private constructor(client: TorporClient, sandbox: string, sessionId: string, seq: number, last: Count) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#sessionId = sessionId;
    this.#seq = seq;
    this.last = last;
  }

  static async start(client: TorporClient, sandbox: string, argv: string[]): Promise<Counter> {
    const session = await client.startSession(sandbox, { argv });
    return new Counter(client, sandbox, session.id, 0, { count: 0, pid: session.pid });
  }

  /** The same counter in a fork: it has the session too, with all that was printed before. */
  of(sandbox: string): Counter {
    return new Counter(this.#client, sandbox, this.#sessionId, this.#seq, this.last);
  }

  /** Reads on, from where it was read last, until it has counted that far. */
  async reach(count: number): Promise<Count> {
    const stream = await this.#client.attach(this.#sandbox, this.#sessionId, { after: this.#seq });
    try {
      let text = "";
      for await (const frame of stream) {
        if (frame.type === "end") throw new Error(`the counter ended: ${frame.end.reason}`);
        if (frame.type !== "output") continue;
        text += Buffer.from(frame.data).toString();
        this.#seq = frame.seq;
        const lines = [...text.matchAll(/(\d+) \(pid (\d+)\)\n/g)];
        const newest = lines.at(-1);
        if (newest !== undefined) this.last = { count: Number(newest[1]), pid: Number(newest[2]) };
        if (this.last.count >= count) return this.last;
      }
      throw new Error("the counter's output broke off");
    } finally {
      stream.close();
    }
  }
}
