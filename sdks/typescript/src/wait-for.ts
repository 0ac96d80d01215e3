import type { Sandbox as SandboxRecord, SandboxState } from "@torpor/contract";
import type { TorporClient } from "./client.ts";
import { createError } from "./errors.ts";
import { refuseUnknown } from "./refuse-unknown.ts";

export interface WaitForOptions {
  /** One of these. */
  readonly state: SandboxState | readonly SandboxState[];
  /** Default: none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Told of the record whenever its state, or the phase of its operation, is another. */
  readonly onProgress?: (record: SandboxRecord) => void;
}

/** Events tell of changes at once; a look so often, in ms, is for a daemon that has no room for another reader of them. */
const lookMs = 1000;

/** Resolves with the record once the sandbox is in the state. Rejects when it is gone. */
export async function waitFor(client: TorporClient, id: string, options: WaitForOptions): Promise<SandboxRecord> {
  refuseUnknown(options, { state: true, timeoutMs: true, signal: true, onProgress: true });
  const { timeoutMs, signal: given, onProgress } = options;
  const states: readonly SandboxState[] = typeof options.state === "string" ? [options.state] : options.state;
  const over = new AbortController();
  const changes = new Changes(client, id, over.signal);
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  let told = "";
  try {
    for (;;) {
      given?.throwIfAborted();
      const record = await client.get(id);
      const now = `${record.state} ${record.operation?.phase ?? ""}`;
      if (now !== told) onProgress?.(record);
      told = now;
      if (states.includes(record.state)) return record;
      const left = deadline - performance.now();
      if (left <= 0) throw late(record, states, timeoutMs);
      await changes.next(Math.min(left, lookMs), given);
    }
  } finally {
    over.abort();
  }
}

function late({ name, state }: SandboxRecord, states: readonly string[], timeoutMs: number | undefined): Error {
  return createError("timeout", `sandbox ${name} is ${state}: it was not ${states.join(" or ")} within ${timeoutMs} ms`);
}

/** Tells that something happened to a sandbox. */
class Changes {
  #happened = false;
  #wake: () => void = () => {};

  constructor(client: TorporClient, id: string, signal: AbortSignal) {
    this.#listen(client, id, signal).catch(() => {});
  }

  async next(withinMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (!this.#happened) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal?.addEventListener("abort", this.#wake, { once: true });
      });
      signal?.removeEventListener("abort", this.#wake);
    }
    this.#happened = false;
  }

  async #listen(client: TorporClient, sandbox: string, signal: AbortSignal): Promise<void> {
    for await (const _ of client.feed.follow({ sandbox, signal })) {
      this.#happened = true;
      this.#wake();
    }
  }
}
