import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openPool, type Pool } from "../../../packages/daemon/src/pool/pool.ts";

export interface TemporaryPool extends AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void>;
  readonly dataDirectory: string;
  readonly pool: Pool;
  /** Opens it again as a next daemon would; `unmount` first, as after a reboot. */
  reopen(options: { unmount: boolean }): Promise<Pool>;
}

/** A pool in a directory of its own; unmounted and removed at the end of the scope. */
export async function temporaryPool(sizeBytes = 4 * 1024 ** 3): Promise<TemporaryPool> {
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "torpor-pool-"));
  let pool = await openPool(dataDirectory, { sizeBytes });
  return {
    dataDirectory,
    get pool() {
      return pool;
    },
    reopen: async ({ unmount }) => {
      await pool.close({ unmount });
      pool = await openPool(dataDirectory, { sizeBytes });
      return pool;
    },
    [Symbol.asyncDispose]: async () => {
      await pool.close({ unmount: true });
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}
