import type { Image } from "@torpor/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Images } from "../ports/images.ts";

export interface ImagesHarness {
  readonly images: Images;
  /** Brings a small image in under a reference, by whatever way is at hand. */
  add(reference: string): Promise<Image>;
  dispose(): Promise<void>;
}

export function imagesConformance(name: string, make: () => Promise<ImagesHarness>): void {
  describe(`${name} keep the contract of images`, () => {
    let harness: ImagesHarness;
    let images: Images;
    let image: Image;
    beforeEach(async () => {
      harness = await make();
      images = harness.images;
      image = await harness.add("conformance:1");
    });
    afterEach(() => harness.dispose());

    test("is found by reference, digest and a unique start of the digest", async () => {
      const short = image.digest.slice("sha256:".length, "sha256:".length + 12);
      for (const reference of ["conformance:1", image.digest, short]) expect(await images.find(reference)).toEqual(image);
      expect(await images.find("conformance:2")).toBeUndefined();
      expect(await images.find(short.slice(0, 4))).toBeUndefined();
      expect(await images.list()).toContainEqual(image);
      expect(images.locate(image.digest)).not.toBe("");
    });

    test("is not removed while it is in use", async () => {
      await expect(images.remove("conformance:1", new Set([image.digest]))).rejects.toMatchObject({ code: "image_in_use" });
      expect(await images.find("conformance:1")).toEqual(image);
      await images.remove("conformance:1", new Set());
      expect(await images.find(image.digest)).toBeUndefined();
      await expect(images.remove("conformance:1", new Set())).rejects.toMatchObject({ code: "image_not_found" });
    });

    test("what nothing needs is pruned, what is in use stays", async () => {
      await images.prune(new Set([image.digest]));
      expect(await images.find("conformance:1")).toEqual(image);
    });
  });
}
