import { type Image, TorporError } from "@torpor/contract";
import type { Images } from "@torpor/core";
import { findImage, normalise } from "./find-image.ts";
import type { ImageStore } from "./image-store.ts";

/** Taking references and images away. What is in use stays: checkpoints read their image's files again when they are restored. */
export function createRemoval(store: ImageStore, lock: <T>(work: () => Promise<T>) => Promise<T>): Pick<Images, "remove" | "prune"> {
  return {
    remove: (text, inUse) =>
      lock(async () => {
        const image = await requireImage(store, text);
        const reference = normalise(text) ?? "";
        const gone = image.references.includes(reference) ? [reference] : image.references;
        const last = gone.length === image.references.length;
        if (last) {
          requireUnused(image, text, inUse);
        }
        await store.forget(gone);
        if (last) {
          await store.discard(image.digest);
        }
        return image;
      }),
    prune: (inUse) =>
      lock(async () => {
        const references = await store.references();
        const unused = (await store.list()).filter((image) => !inUse.has(image.digest));
        const digests = unused.map((image) => image.digest);
        await store.forget(Object.keys(references).filter((name) => digests.includes(references[name] ?? "")));
        for (const digest of digests) {
          await store.discard(digest);
        }
        return { removed: digests, freedBytes: unused.reduce((sum, image) => sum + image.storedBytes, 0) };
      }),
  };
}

async function requireImage(store: ImageStore, text: string): Promise<Image> {
  const image = await findImage(store, text);
  if (image === undefined) {
    throw new TorporError("image_not_found", `There is no image ${text} here.`, { hint: "torpor image list shows those that are." });
  }
  return image;
}

function requireUnused(image: Image, text: string, inUse: ReadonlySet<string>): void {
  if (inUse.has(image.digest)) {
    throw new TorporError("image_in_use", `Image ${text} is needed by a sandbox or a checkpoint.`, {
      hint: "Remove the sandboxes that were made from it first.",
      details: { digest: image.digest },
    });
  }
}
