import type { Progress } from "@torpor/core";

interface Shared<T> {
  readonly result: Promise<T>;
  readonly listeners: Set<Progress>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Lets callers that want the same thing at once share one run of the work: all see its progress, and it is cancelled when the last
 * of them has given up.
 */
export function createSharedWork<T>() {
  const running = new Map<string, Shared<T>>();

  return async (
    key: string,
    progress: Progress,
    signal: AbortSignal | undefined,
    work: (progress: Progress, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    signal?.throwIfAborted();
    let shared = running.get(key);
    if (shared === undefined) {
      shared = begin(work);
      running.set(key, shared);
      const forget = () => running.delete(key);
      shared.result.then(forget, forget);
    }
    return await join(shared, progress, signal, () => running.delete(key));
  };
}

function begin<T>(work: (progress: Progress, signal: AbortSignal) => Promise<T>): Shared<T> {
  const listeners = new Set<Progress>();
  const controller = new AbortController();
  const tellAll: Progress = (line) => {
    for (const listener of listeners) {
      listener(line);
    }
  };
  return { result: work(tellAll, controller.signal), listeners, controller, waiting: 0 };
}

async function join<T>(shared: Shared<T>, progress: Progress, signal: AbortSignal | undefined, onLast: () => void): Promise<T> {
  shared.waiting += 1;
  shared.listeners.add(progress);
  let left = false;
  const leave = () => {
    if (left) {
      return;
    }
    left = true;
    shared.listeners.delete(progress);
    shared.waiting -= 1;
    if (shared.waiting === 0) {
      // Who comes now must not join a run that is being cancelled.
      onLast();
      shared.controller.abort();
    }
  };
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener(
      "abort",
      () => {
        const alone = shared.waiting === 1;
        leave();
        // The last one waits until nothing of the work is left.
        if (!alone) {
          reject(signal.reason);
        }
      },
      { once: true },
    );
  });
  try {
    return await Promise.race([shared.result, aborted]);
  } finally {
    if (!left) {
      left = true;
      shared.listeners.delete(progress);
    }
  }
}
