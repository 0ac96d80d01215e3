import { setImmediate as immediate } from "node:timers/promises";
import type { Lifecycle } from "@torpor/core";
import { collect } from "./host/heap.ts";
import type { Logger } from "./log.ts";
import { periodically } from "./periodically.ts";

/** Often enough that a node whose sandboxes sleep holds next to nothing soon, and so rarely that looking costs nothing. */
const everyMs = 5_000;
/** A daemon that nobody calls takes 0.02 % of a processor, and each small call in a second 0.1 %. */
const restingShare = 0.005;
/** Less than this is not worth stopping for. */
const grownBytes = 8e6;

/** What is seen of the process, and done about it. */
interface Held {
  /** Time of processors that it has used, in ms. */
  usedMs(): number;
  residentBytes(): number;
  collect(): Promise<void>;
}

/**
 * Gives back what work left in memory once the daemon rests, until it is ended: V8 collects when it needs room, and who waits needs none. Never while an
 * operation runs, which would have to wait for it.
 */
export function keepSmall(
  { idle }: Pick<Lifecycle, "idle">,
  log: Logger,
  { held = thisProcess, waitMs = everyMs } = {},
): () => Promise<void> {
  let keptBytes: number | undefined = 0;
  let seen = { usedMs: 0, atMs: 0 };
  return periodically(
    waitMs,
    async () => {
      const now = { usedMs: held.usedMs(), atMs: performance.now() };
      const share = (now.usedMs - seen.usedMs) / (now.atMs - seen.atMs);
      seen = now;
      // V8 hands pages back in the background: what is kept is seen a look later.
      keptBytes ??= held.residentBytes();
      if (share > restingShare || held.residentBytes() < keptBytes + grownBytes) return;
      // One that runs may take minutes: then at another look.
      if (!(await Promise.race([idle().then(() => true), immediate(false)]))) return;
      await held.collect();
      keptBytes = undefined;
      seen = { usedMs: held.usedMs(), atMs: performance.now() };
    },
    (error) => log.error({ err: error }, "memory could not be given back"),
  );
}

const thisProcess: Held = {
  usedMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  residentBytes: () => process.memoryUsage.rss(),
  collect,
};
