import type { Image } from "@torpor/contract";
import { TorporError } from "@torpor/contract";
import type { ImageStore, StoredImage } from "./image-store.ts";
import { formatReference, parseReference } from "./reference.ts";

/** By reference first: a name may well look like the start of a digest. */
export async function findImage(store: ImageStore, text: string): Promise<Image | undefined> {
  const references = await store.references();
  const images = await store.list();
  const digest = references[normalise(text) ?? ""];
  const byName = images.find((image) => image.digest === digest);
  if (byName !== undefined) {
    return toImage(byName, references);
  }
  const start = /^(?:sha256:)?([0-9a-f]{8,64})$/.exec(text)?.[1];
  const [first, second] = start === undefined ? [] : images.filter((image) => image.digest.startsWith(`sha256:${start}`));
  return first === undefined || second !== undefined ? undefined : toImage(first, references);
}

export function toImage({ sourceDigests: _, ...image }: StoredImage, references: Readonly<Record<string, string>>): Image {
  const named = Object.keys(references).filter((reference) => references[reference] === image.digest);
  return { ...image, references: named.sort() };
}

/** undefined: no reference, perhaps a digest. */
export function normalise(text: string): string | undefined {
  try {
    return formatReference(parseReference(text));
  } catch (cause) {
    if (cause instanceof TorporError) {
      return undefined;
    }
    throw cause;
  }
}
