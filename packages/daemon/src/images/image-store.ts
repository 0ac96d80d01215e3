import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { Image, TorporError } from "@torpor/contract";
import { z } from "zod";
import { sync, writeDurably } from "../host/durable.ts";
import { run } from "../host/spawn.ts";
import type { Pool } from "../pool/pool.ts";
import { digestPattern } from "./reference.ts";

/** image.json, beside the unpacked rootfs/. References have a file of their own: they change, an image never does. */
const StoredImage = Image.omit({ references: true }).extend({
  /** Digests by which its source knows it: of an index, or of the manifest before its conversion. */
  sourceDigests: z.array(z.string()),
});
export type StoredImage = z.infer<typeof StoredImage>;
const References = z.record(z.string(), z.string().regex(digestPattern));

/** `<pool>/images/sha256-<hex>/{rootfs/, image.json}` and `<pool>/images/references.json`. */
export interface ImageStore {
  directoryOf(digest: string): string;
  list(): Promise<StoredImage[]>;
  references(): Promise<Readonly<Record<string, string>>>;
  /** Moves a workspace's `image/` to its place, durably, then names it. One that is there already stays. */
  install(prepared: string, image: StoredImage, reference: string): Promise<void>;
  point(reference: string, digest: string): Promise<void>;
  forget(references: readonly string[]): Promise<void>;
  discard(digest: string): Promise<void>;
}

export function createImageStore(pool: Pool): ImageStore {
  const root = pool.directory("images");
  const referenceFile = path.join(root, "references.json");
  const directoryOf = (digest: string) => path.join(root, requireDigest(digest).replace(":", "-"));

  const references = async () => {
    try {
      return References.parse(JSON.parse(await readFile(referenceFile, "utf8")));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
        return {};
      }
      throw cause;
    }
  };
  const change = async (edit: (all: Record<string, string>) => void) => {
    const all = { ...(await references()) };
    edit(all);
    await writeDurably(referenceFile, `${JSON.stringify(all, undefined, 1)}\n`);
  };
  const point = (reference: string, digest: string) =>
    change((all) => {
      all[reference] = digest;
    });

  return {
    directoryOf,
    references,
    point,
    list: async () => {
      const names = (await readdir(root)).filter((name) => digestPattern.test(name.replace("-", ":")));
      return await Promise.all(
        names.map(async (name) => StoredImage.parse(JSON.parse(await readFile(path.join(root, name, "image.json"), "utf8")))),
      );
    },
    install: async (prepared, image, reference) => {
      const target = directoryOf(image.digest);
      if (!(await exists(target))) {
        await mkdir(prepared, { recursive: true });
        await writeFile(path.join(prepared, "image.json"), `${JSON.stringify(image, undefined, 1)}\n`, { mode: 0o600 });
        // A checkpoint refers to these files by their content: after a power cut there must be all of them or none.
        await run("sync", ["--file-system", prepared]);
        await rename(prepared, target);
        await sync(root);
      }
      await point(reference, image.digest);
    },
    forget: (gone) =>
      change((all) => {
        for (const reference of gone) {
          delete all[reference];
        }
      }),
    discard: (digest) => pool.remove(directoryOf(digest)),
  };
}

function requireDigest(digest: string): string {
  if (!digestPattern.test(digest)) {
    throw new TorporError("invalid_request", `${JSON.stringify(digest.slice(0, 80))} is not an image digest.`, {
      hint: "Digests look like sha256: and 64 hex digits.",
    });
  }
  return digest;
}

async function exists(target: string): Promise<boolean> {
  return await stat(target).then(
    () => true,
    () => false,
  );
}
