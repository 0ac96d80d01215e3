import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import type { Pool } from "../pool/pool.ts";
import { roomHint } from "../pool/storage-failure.ts";

/** A directory in the pool where one image is made. */
export interface Workspace {
  readonly path: string;
  /** Ends with the caller's cancellation, or when the pool runs full. */
  readonly signal: AbortSignal;
  /** disk_full if what was made so far took the pool's reserve, so that it must not be kept. */
  requireRoom(): Promise<void>;
}

/** Below this the work is given up: what runs in sandboxes needs the rest. */
const reserveBytes = 256 * 1024 * 1024;
const watchIntervalMs = 200;

/**
 * Nothing says how large a compressed layer or a sparse entry will be, so the room is watched while it is used, rather than
 * every layer decompressed twice to know it beforehand.
 */
export async function withWorkspace<T>(pool: Pool, signal: AbortSignal | undefined, work: (space: Workspace) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(pool.directory("tmp"), "image-"));
  const full = new AbortController();
  const watch = setInterval(() => {
    pool.freeBytes().then(
      (freeBytes) => freeBytes < reserveBytes && full.abort(),
      () => {},
    );
  }, watchIntervalMs);
  try {
    return await work({
      path: directory,
      signal: signal === undefined ? full.signal : AbortSignal.any([full.signal, signal]),
      requireRoom: async () => {
        if ((await pool.freeBytes()) < reserveBytes) {
          throw doesNotFit();
        }
      },
    });
  } catch (cause) {
    if (full.signal.aborted) {
      throw doesNotFit(cause);
    }
    if (signal?.aborted === true) {
      throw signal.reason instanceof TorporError
        ? signal.reason
        : new TorporError("timeout", "The work on the image was cancelled.", { cause });
    }
    throw cause;
  } finally {
    clearInterval(watch);
    await pool.remove(directory);
  }
}

function doesNotFit(cause?: unknown): TorporError {
  return new TorporError("disk_full", "The image does not fit into the pool.", { hint: roomHint, cause });
}
