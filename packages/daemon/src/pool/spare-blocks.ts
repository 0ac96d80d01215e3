import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat, statfs } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as passes } from "node:timers/promises";
import { periodically } from "../periodically.ts";

export interface SpareBlocksOptions {
  /** The pool's file, and where it is mounted. */
  readonly file: string;
  readonly mountPoint: string;
  readonly shimPath: string;
  /** Default 4 GiB; never more than an eighth of what the host has free. */
  readonly mostBytes?: number | undefined;
  readonly warn: (message: string) => void;
}

export interface SpareBlocks {
  /** Something was removed: looks a second later, since XFS frees blocks after the removal has returned. */
  soon(): void;
  close(): Promise<void>;
}

const defaultMostBytes = 4 * 1024 ** 3;
const shareOfHost = 1 / 8;
const soonMs = 1_000;
/** Files that are deleted inside sandboxes give blocks back to the pool, and nobody says so. */
const everyMs = 60_000;

/**
 * Keeps some of the blocks that are free in the pool in its file, where the next checkpoint is written in half the time of blocks that the host has yet to
 * give, and gives the rest back to the host: docs/decisions/0010-pool.md.
 */
export function keepSpareBlocks({ file, mountPoint, shimPath, mostBytes = defaultMostBytes, warn }: SpareBlocksOptions): SpareBlocks {
  const ending = new AbortController();
  /** What was counted, and the difference of the two file systems then: since then it grew as that did. */
  let counted = { spareBytes: Number.POSITIVE_INFINITY, difference: 0 };

  /** Of the blocks in the file and those in use in the pool. Not what is spare: XFS counts as used what it keeps for its own trees. */
  async function difference(): Promise<number> {
    const [{ blocks }, pool] = await Promise.all([stat(file), statfs(mountPoint)]);
    return blocks * 512 - (pool.blocks - pool.bfree) * pool.bsize;
  }

  async function look(): Promise<void> {
    const { bavail, bsize } = await statfs(file);
    const keepBytes = Math.floor(Math.min(mostBytes, bavail * bsize * shareOfHost));
    if (counted.spareBytes + (await difference()) - counted.difference <= keepBytes) return;
    const spareBytes = await trim(keepBytes);
    counted = { spareBytes, difference: await difference() };
  }

  async function trim(keepBytes: number): Promise<number> {
    const child = spawn(shimPath, ["trim", mountPoint, file, String(keepBytes)], { signal: ending.signal, killSignal: "SIGKILL" });
    child.stdin.on("error", () => {});
    const [[exitCode], spare, words] = await Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]);
    if (exitCode !== 0) throw new Error(words.trim());
    return Number(spare);
  }

  let looking = Promise.resolve();
  let due = false;
  const next = () => {
    looking = looking.then(look).catch((error: unknown) => {
      if (ending.signal.aborted) return;
      // A host that can't do it would say so each time.
      counted = { spareBytes: Number.NEGATIVE_INFINITY, difference: 0 };
      warn(`Blocks of ${file} that are free can't be given back to the host: ${error instanceof Error ? error.message : error}`);
    });
    return looking;
  };
  const stop = periodically(everyMs, next, () => {});
  return {
    soon() {
      if (due || ending.signal.aborted) return;
      due = true;
      void passes(soonMs, undefined, { signal: ending.signal, ref: false })
        .then(() => {
          due = false;
          return next();
        })
        .catch(() => {});
    },
    async close() {
      ending.abort();
      await stop();
      await looking;
    },
  };
}
