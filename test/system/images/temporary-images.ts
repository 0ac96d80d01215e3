import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import type { Image } from "@torpor/contract";
import type { Images } from "@torpor/core";
import { createPoolImages, type ImageOptions } from "../../../packages/daemon/src/images/pool-images.ts";
import type { Pool } from "../../../packages/daemon/src/pool/pool.ts";
import { temporaryPool } from "../pool/temporary-pool.ts";
import { type LayoutOptions, writeLayout } from "./layout-builder.ts";
import type { TarEntry } from "./tar.ts";

export interface TemporaryImages extends AsyncDisposable {
  [Symbol.asyncDispose](): Promise<void>;
  readonly images: Images;
  readonly pool: Pool;
  /** For sources, outside the pool. */
  readonly directory: string;
  /** Imports an image of these layers and answers it with its root file system. */
  importLayers(layers: readonly (readonly TarEntry[])[], options?: LayoutOptions): Promise<{ image: Image; root: string }>;
  /** Nothing of a failed or finished work is left. */
  leftovers(): Promise<string[]>;
}

export async function temporaryImages(options: ImageOptions & { poolBytes?: number } = {}): Promise<TemporaryImages> {
  const base = await temporaryPool(options.poolBytes === undefined ? {} : { sizeBytes: options.poolBytes });
  const images = createPoolImages(base.pool, options);
  const directory = path.join(base.dataDirectory, "sources");
  await mkdir(directory);
  let count = 0;
  return {
    images,
    pool: base.pool,
    directory,
    importLayers: async (layers, layoutOptions) => {
      count += 1;
      const layout = path.join(directory, `layout-${count}`);
      await writeLayout(layout, layers, layoutOptions);
      const image = await images.import({ path: layout, reference: `test/image:${count}` }, () => {});
      return { image, root: images.locate(image.digest) };
    },
    leftovers: () => readdir(base.pool.directory("tmp")),
    [Symbol.asyncDispose]: () => base[Symbol.asyncDispose](),
  };
}
