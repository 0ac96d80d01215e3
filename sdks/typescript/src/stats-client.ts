import type { NodeStats, SandboxStats, SandboxUsage } from "@torpor/contract";
import { linesOf } from "./lines.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { Transport } from "./transport.ts";

/** What sandboxes use now. Nothing is woken for it. */
export class StatsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** `id` is a sandbox's id or name. */
  get(id: string): Promise<SandboxStats> {
    return this.#transport.json("sandboxStats", { params: { id } });
  }

  /** Of all sandboxes, with the pool. */
  all(): Promise<NodeStats> {
    return this.#transport.json("stats");
  }

  /** What each has used so far, those that were removed lately too. */
  async usage(): Promise<SandboxUsage[]> {
    return (await this.#transport.json<{ usage: SandboxUsage[] }>("usage")).usage;
  }

  /** The same each 2 s, until the signal or the connection's end. */
  async *follow(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<NodeStats> {
    refuseUnknown(options, { signal: true });
    const { signal } = options;
    const answer = await this.#transport.call("stats", {
      headers: { accept: "text/event-stream" },
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      for await (const line of linesOf(answer)) if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length)) as NodeStats;
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  }
}
