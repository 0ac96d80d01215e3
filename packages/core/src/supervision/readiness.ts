import type { Clock } from "../ports/clock.ts";
import type { Guest } from "../ports/guest.ts";
import type { Ids } from "../ports/ids.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";

const defaultTimeoutMs = 30_000;
const defaultIntervalMs = 500;

/** Looks until the process is ready: true; or its time is over: false. Rejects when the signal aborts, or the sandbox can't be asked. */
export async function becomesReady(
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
  guest: Guest,
  { policy: { readiness }, start }: SupervisedRecord,
  signal: AbortSignal,
): Promise<boolean> {
  if (readiness === undefined) return true;
  const { argv, port, timeoutMs = defaultTimeoutMs, intervalMs = defaultIntervalMs } = readiness;
  const until = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const ready =
      port === undefined
        ? await answers(guest, { ...start, argv: argv ?? ["true"] }, ids.next("se"), timeoutMs)
        : await listens(guest, port);
    signal.throwIfAborted();
    if (ready) return true;
    if (clock.monotonicMs() + intervalMs > until) return false;
    await clock.sleep(intervalMs, signal);
  }
}

/** Its output is nobody's, and no trace of it is kept. */
async function answers(
  guest: Guest,
  { argv, env, workdir, user }: SupervisedRecord["start"],
  sessionId: string,
  timeoutMs: number,
): Promise<boolean> {
  const as = {
    ...(env === undefined ? {} : { env }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
  };
  try {
    for await (const frame of guest.sessions.run({ argv: [...argv], ...as, timeoutMs, sessionId, hold: false })) {
      if (frame.type === "end") return frame.end.exitCode === 0;
    }
    return false;
  } catch {
    return false; // the sandbox's end is seen by whoever watches the process
  } finally {
    await guest.sessions.remove(sessionId, true).catch(() => {});
  }
}

async function listens(guest: Guest, port: number): Promise<boolean> {
  const left = new AbortController();
  try {
    await guest.ports.connect(port, nothing(), left.signal);
    return true;
  } catch {
    return false;
  } finally {
    left.abort();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
