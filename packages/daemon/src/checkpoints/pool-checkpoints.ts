import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import type { CheckpointManifest, Checkpoints } from "@torpor/core";
import { sync } from "../host/durable.ts";
import { isPlainId, requirePlainId } from "../pool/ids.ts";
import type { Pool } from "../pool/pool.ts";
import { requireRoom } from "../pool/room.ts";
import { guardStorage } from "../pool/storage-failure.ts";
import { parseManifest, renderManifest } from "./manifest.ts";

const partialSuffix = ".partial";
const manifestName = "manifest.json";

/** Checkpoints as directories in the pool: `<id>.partial/` while parts are written, `<id>/` once sealed. */
export function createPoolCheckpoints(pool: Pool): Checkpoints {
  const root = pool.directory("checkpoints");
  const locate = (id: string) => path.join(root, requirePlainId(id));

  return {
    locate,
    begin: (id, needBytes) =>
      guardStorage(`Checkpoint ${id} could not be begun`, async () => {
        const partial = locate(id) + partialSuffix;
        if (await isDirectory(locate(id))) {
          throw new TorporError("storage_failed", `Checkpoint ${id} is sealed already.`);
        }
        await pool.remove(partial);
        await requireRoom(pool, `Checkpoint ${id}`, needBytes);
        await mkdir(partial, { mode: 0o700 });
        return partial;
      }),
    flush: (id) =>
      guardStorage(`Checkpoint ${id} could not be written`, async () => {
        const partial = locate(id) + partialSuffix;
        await Promise.all((await readdir(partial)).map((name) => sync(path.join(partial, name))));
      }),
    seal: (manifest, { durable = true } = {}) =>
      guardStorage(`Checkpoint ${manifest.id} could not be sealed`, () => seal(locate(manifest.id), manifest, durable)),
    clone: (sourceId, manifest) =>
      guardStorage(`Checkpoint ${manifest.id} could not be copied from ${sourceId}`, async () => {
        const target = locate(manifest.id);
        if (!(await isDirectory(target))) {
          await copyParts(pool, locate(sourceId), target, manifest);
        }
        // One that an earlier attempt made may not be durable yet.
        await seal(target, manifest, true);
      }),
    read: (id) => guardStorage(`Checkpoint ${id} could not be read`, () => readManifest(locate(id), id)),
    remove: (id) =>
      guardStorage(`Checkpoint ${id} could not be removed`, async () => {
        await pool.remove(locate(id));
        await pool.remove(locate(id) + partialSuffix);
      }),
    list: async () => [
      ...new Set(
        (await readdir(root)).map((name) => (name.endsWith(partialSuffix) ? name.slice(0, -partialSuffix.length) : name)).filter(isPlainId),
      ),
    ],
  };
}

async function copyParts(pool: Pool, source: string, target: string, { id, parts }: CheckpointManifest): Promise<void> {
  if (!(await isDirectory(source))) {
    throw new TorporError("storage_failed", `There is no checkpoint ${path.basename(source)} to copy.`);
  }
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  await requireRoom(pool, `Checkpoint ${id}`, pool.reflink ? 0 : sizeBytes);
  const partial = target + partialSuffix;
  await pool.remove(partial);
  await mkdir(partial, { mode: 0o700 });
  await Promise.all(parts.map(({ name }) => pool.copy(path.join(source, name), path.join(partial, name))));
}

async function seal(target: string, manifest: CheckpointManifest, durable: boolean): Promise<void> {
  const partial = target + partialSuffix;
  if (!(await isDirectory(target))) {
    if (!(await isDirectory(partial))) {
      throw new TorporError("storage_failed", `Checkpoint ${manifest.id} was never begun.`);
    }
    const text = renderManifest(manifest);
    await Promise.all(manifest.parts.map((part) => requireWhole(partial, part, manifest.id)));
    await writeFile(path.join(partial, manifestName), text, { mode: 0o600 });
    await rename(partial, target);
  }
  if (!durable) {
    return;
  }
  // All at once: each of these waits for the pool's log, and together they wait for it once. A power cut before the last one may leave a torn
  // checkpoint under its name, to which no record refers: what refers to it is written when this has resolved.
  const names = [...manifest.parts.map((part) => part.name), manifestName, ".", ".."];
  await Promise.all(names.map((name) => sync(path.join(target, name))));
}

/** The engine may leave a short file on a full disk and still report success: sizes are compared before anything counts as written. */
async function requireWhole(directory: string, part: CheckpointManifest["parts"][number], id: string): Promise<void> {
  const found = await stat(path.join(directory, part.name)).catch(() => undefined);
  if (found?.size !== part.sizeBytes) {
    throw new TorporError(
      "checkpoint_corrupt",
      `Part ${part.name} of checkpoint ${id} ${found === undefined ? "is missing" : `has ${found.size} bytes instead of ${part.sizeBytes}`}.`,
      { details: { part: part.name } },
    );
  }
}

async function readManifest(directory: string, id: string): Promise<CheckpointManifest | undefined> {
  let text: string;
  try {
    text = await readFile(path.join(directory, manifestName), "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT" && !(await isDirectory(directory))) {
      return undefined;
    }
    throw corrupt(id, cause);
  }
  try {
    // Whose it is, and whether it is the right one, is for the lifecycle to say: it knows both sandboxes.
    return parseManifest(text);
  } catch (cause) {
    throw corrupt(id, cause);
  }
}

function corrupt(id: string, cause: unknown): TorporError {
  return new TorporError("checkpoint_corrupt", `The manifest (manifest.json) of checkpoint ${id} can't be read.`, {
    hint: "Resume with memory discard to start from the disk.",
    details: { part: manifestName },
    cause,
  });
}

async function isDirectory(target: string): Promise<boolean> {
  return await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
