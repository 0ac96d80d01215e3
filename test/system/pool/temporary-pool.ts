import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { nativeBinary } from "../../../packages/daemon/src/open-engine.ts";
import { openPool, type Pool, type PoolOptions } from "../../../packages/daemon/src/pool/pool.ts";

export interface TemporaryPool extends AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void>;
  readonly dataDirectory: string;
  readonly pool: Pool;
  /** Opens it again as a next daemon would; `unmount` first, as after a reboot. */
  reopen(options: { unmount: boolean; spareBytes?: number }): Promise<Pool>;
}

/** A pool in a directory of its own; unmounted and removed at the end of the scope. */
export async function temporaryPool(settings: Omit<PoolOptions, "shimPath"> = {}): Promise<TemporaryPool> {
  const options = { sizeBytes: 4 * 1024 ** 3, ...settings, shimPath: nativeBinary("torpor-shim") };
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "torpor-pool-"));
  let pool = await openPool(dataDirectory, options);
  return {
    dataDirectory,
    get pool() {
      return pool;
    },
    reopen: async ({ unmount, ...others }) => {
      await pool.close({ unmount });
      pool = await openPool(dataDirectory, { ...options, ...others });
      return pool;
    },
    [Symbol.asyncDispose]: async () => {
      await pool.close({ unmount: true });
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}
