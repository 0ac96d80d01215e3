import { access, open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import type { Disks } from "@torpor/core";
import { isPlainId, requirePlainId } from "../pool/ids.ts";
import type { Pool } from "../pool/pool.ts";
import { requireRoom } from "../pool/room.ts";
import { guardStorage } from "../pool/storage-failure.ts";
import { createTemplates } from "./template.ts";

const suffix = ".ext4";

/**
 * Disks as sparse ext4 files in the pool, `<id>.ext4`.
 *
 * A clone is not synced: nobody must wait for that while a sandbox is frozen. `sync` does it, later; the pool's log is one sequence, so
 * the name of the file comes with it.
 */
export function createPoolDisks(pool: Pool): Disks {
  const templates = createTemplates(pool);
  const locate = (id: string) => path.join(pool.directory("disks"), requirePlainId(id) + suffix);

  return {
    locate,
    create: (id, sizeBytes) =>
      guardStorage(`Disk ${id} could not be made`, async () => {
        const target = locate(id);
        const there = await sizeOf(target);
        if (there === undefined) {
          await requireRoom(pool, `Disk ${id}`, roomForADiskBytes);
          await pool.copy(await templates.forSize(sizeBytes), target);
        } else if (there !== sizeBytes) {
          throw new TorporError("storage_failed", `Disk ${id} is there already with ${there} bytes instead of ${sizeBytes}.`);
        }
      }),
    clone: (sourceId, id) =>
      guardStorage(`Disk ${id} could not be copied from ${sourceId}`, async () => {
        const target = locate(id);
        if ((await sizeOf(target)) !== undefined) {
          return;
        }
        const source = locate(sourceId);
        if ((await sizeOf(source)) === undefined) {
          throw new TorporError("storage_failed", `There is no disk ${sourceId} to copy.`);
        }
        await requireRoom(pool, `Disk ${id}`, roomForADiskBytes);
        await pool.copy(source, target);
      }),
    sync: (id) =>
      guardStorage(`Disk ${id} could not be synced`, async () => {
        await using file = await open(locate(id), "r");
        await file.sync();
      }),
    remove: (id) => guardStorage(`Disk ${id} could not be removed`, () => pool.remove(locate(id))),
    exists: async (id) =>
      await access(locate(id)).then(
        () => true,
        () => false,
      ),
    list: async () =>
      (await readdir(pool.directory("disks")))
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .filter(isPlainId),
    storedBytes: (id) =>
      guardStorage(`Disk ${id} could not be read`, async () => {
        const { blocks } = await stat(locate(id));
        return blocks * 512;
      }),
  };
}

/** A disk that can't take its first writes is of no use. */
const roomForADiskBytes = 16 * 1024 * 1024;

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw cause;
  }
}
