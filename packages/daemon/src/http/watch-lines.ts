import type { ErrorBody, FileChange, WatchLine } from "@torpor/contract";

/** So often, in ms, a client is told that the watch is there: proxies keep the connection, and its end is noticed. */
const aliveMs = 10_000;

/**
 * The lines of a watch. A refusal, which comes before the first batch, is thrown: it still becomes a status. Why a watch ended is its last line.
 */
export async function* watchLines(
  batches: AsyncIterable<readonly FileChange[]>,
  tell: (error: unknown) => ErrorBody["error"],
  intervalMs = aliveMs,
): AsyncGenerator<Uint8Array> {
  const iterator = batches[Symbol.asyncIterator]();
  if ((await iterator.next()).done === true) return;
  try {
    yield lineOf({ watching: true });
    let next = iterator.next();
    for (;;) {
      const batch = await within(intervalMs, next);
      if (batch === undefined) {
        yield lineOf({ alive: true });
        continue;
      }
      if (batch.done === true) return;
      for (const change of batch.value) yield lineOf({ change });
      next = iterator.next();
    }
  } catch (error) {
    const { code, message, hint } = tell(error);
    yield lineOf({ error: { code, message, ...(hint === undefined ? {} : { hint }) } });
  } finally {
    // Not waited for: what it waits for may never come.
    void iterator.return?.().catch(() => {});
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function lineOf(line: WatchLine): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
