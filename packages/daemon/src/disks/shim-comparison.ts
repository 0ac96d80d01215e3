import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Difference, TorporError } from "@torpor/contract";
import type { Comparison, FileTree } from "@torpor/core";
import { differenceOf, type Line, parseLine } from "./difference-line.ts";
import { Turns } from "./turns.ts";

export interface ShimComparisonOptions {
  readonly shimPath: string;
  /** Of the host's loop mounts the process keeps those below it alone. */
  readonly dataDirectory: string;
  /** An empty directory of the pool may be covered there, for that process alone. */
  readonly scratch: string;
  /** How long a comparison waits for its turn. */
  readonly turnLimitMs?: number;
}

/** Each holds two loop devices, and reads as fast as the pool can give. One whose reader is slow lasts as long as the reader. */
const atOnce = 4;
const defaultTurnLimitMs = 30_000;

export interface ClosableComparison extends Comparison {
  /** Ends what is at work. */
  close(): Promise<void>;
}

/** A process of `torpor-shim compare` for each comparison, in a mount namespace of its own: with it goes all that it made. */
export function createShimComparison(options: ShimComparisonOptions): ClosableComparison {
  const { shimPath, dataDirectory, scratch, turnLimitMs = defaultTurnLimitMs } = options;
  const turns = new Turns(atOnce);
  const running = new Set<ChildProcess>();

  async function* compare(before: FileTree, after: FileTree, signal?: AbortSignal): AsyncIterable<Difference> {
    using _turn = await takeTurn(turns, turnLimitMs, signal);
    const child = spawn(shimPath, ["compare", dataDirectory], {
      stdio: ["pipe", "pipe", "pipe"],
      ...(signal === undefined ? {} : { signal }),
    });
    running.add(child);
    const ended = once(child, "close").finally(() => running.delete(child));
    // It is told of below, or its abort is what the caller wanted.
    ended.catch(() => {});
    child.stdin.on("error", () => {});
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      words = (words + text).slice(-4096);
    });
    try {
      child.stdin.write(`${JSON.stringify({ before: requestOf(before), after: requestOf(after), scratch })}\n`);
      for await (const text of createInterface({ input: child.stdout })) {
        const line = parseLine(text);
        if (line === undefined) break;
        if ("end" in line) return finish(line);
        yield differenceOf(line);
      }
      signal?.throwIfAborted();
      throw new TorporError("storage_failed", `the comparison broke off: ${words.trim()}`);
    } finally {
      // It ends with its input, and waits for nothing else.
      child.stdin.end();
      child.stdout.destroy();
      await ended.catch(() => {});
    }
  }

  return {
    compare,
    close: async () => {
      for (const child of running) child.kill("SIGKILL");
      await Promise.all([...running].map((child) => once(child, "close")));
    },
  };
}

async function takeTurn(turns: Turns, limitMs: number, signal: AbortSignal | undefined): Promise<Disposable> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    return await turns.take(signal === undefined ? limit : AbortSignal.any([signal, limit]));
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new TorporError("capacity_exceeded", `${atOnce} comparisons are at work already: try again when one has ended`, { cause });
  }
}

function requestOf({ disk, image }: FileTree): { readonly disk: string; readonly image: string } {
  return { disk: disk ?? "", image };
}

function finish({ failure, missing }: Extract<Line, { end: true }>): void {
  if (failure === undefined) return;
  if (missing !== undefined) throw new TorporError("storage_failed", failure, { details: { missing: "disk" } });
  throw new TorporError(/no space left/i.test(failure) ? "disk_full" : "storage_failed", `the files could not be compared: ${failure}`);
}
