import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { testImage } from "./test-image.ts";

const sources = fileURLToPath(new URL("../../../packages/daemon/src/{images,pool}/**/*.ts", import.meta.url));

/** Each holds 0.4 GB. */
const unusedMs = 24 * 60 * 60 * 1000;

/**
 * The pool of a new daemon with the test image in it, kept in the user's cache: an import takes 6 s of two cores, a copy of the sparse file a third of one. Kept for
 * the code that made it. Where the data directory can share blocks by itself there is no pool file, and nothing is kept.
 */
export class KeptPool {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  /** `kind` tells pools apart that no other could stand for. */
  static async of(kind: string): Promise<KeptPool> {
    const image = await testImage();
    const hash = createHash("sha256").update(`${kind} ${image} ${statSync(image).mtimeMs}`);
    for (const file of globSync(sources).sort()) hash.update(readFileSync(file));
    const cache = path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), ".cache"), "torpor", "test-pools");
    return new KeptPool(path.join(cache, `${hash.digest("hex").slice(0, 16)}.img`));
  }

  /** Puts it into a data directory that no daemon has seen; false when none is kept yet. */
  take(data: string): boolean {
    if (!existsSync(this.#file)) return false;
    const pool = path.join(data, "pool.img");
    execFileSync("cp", ["--reflink=auto", this.#file, pool]);
    utimesSync(this.#file, new Date(), new Date());
    // The kernel mounts no two file systems of one UUID.
    execFileSync("xfs_admin", ["-f", "-U", "generate", pool], { stdio: "ignore" });
    return true;
  }

  /** While no daemon has it mounted. */
  keep(data: string): void {
    const pool = path.join(data, "pool.img");
    if (!existsSync(pool)) return;
    const partial = `${this.#file}.${process.pid}`;
    mkdirSync(path.dirname(this.#file), { recursive: true });
    execFileSync("cp", ["--reflink=auto", pool, partial]);
    renameSync(partial, this.#file);
    for (const file of globSync(path.join(path.dirname(this.#file), "*"))) {
      // Beside this run another may rename what it has just made.
      const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {};
      if (Date.now() - mtimeMs > unusedMs) rmSync(file, { force: true });
    }
  }
}
