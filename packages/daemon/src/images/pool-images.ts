import path from "node:path";
import { type Image, TorporError } from "@torpor/contract";
import type { Images, Progress } from "@torpor/core";
import { run } from "../host/spawn.ts";
import type { Pool } from "../pool/pool.ts";
import { guardStorage } from "../pool/storage-failure.ts";
import { buildToLayout } from "./build-image.ts";
import { findImage, toImage } from "./find-image.ts";
import { createImageStore, type ImageStore, type StoredImage } from "./image-store.ts";
import { importToLayout } from "./import-image.ts";
import { readLayout } from "./layout.ts";
import { createLock } from "./lock.ts";
import { fetchRemote, resolveRemote } from "./pull-image.ts";
import { formatReference, parseReference } from "./reference.ts";
import { createRemoval } from "./remove-image.ts";
import { createSharedWork } from "./shared-work.ts";
import { unpackLayout } from "./unpack.ts";
import { type Workspace, withWorkspace } from "./workspace.ts";

export interface ImageOptions {
  /** Host and port that stand in for the default registry. */
  readonly registryMirror?: string | undefined;
}

/** Images in the pool: fetched by skopeo, unpacked by umoci, each once and under its digest. */
export function createPoolImages(pool: Pool, options: ImageOptions = {}): Images {
  const store = createImageStore(pool);
  const lock = createLock();
  const share = createSharedWork<Image>();
  const install = (space: Workspace, made: Made, reference: string, progress: Progress) =>
    unpackAndInstall(store, lock, space, made, reference, progress);

  return {
    find: (reference) => findImage(store, reference),
    list: async () => {
      const references = await store.references();
      return (await store.list())
        .map((image) => toImage(image, references))
        .sort((one, other) => one.createdAt.localeCompare(other.createdAt));
    },
    pull: (request, progress, signal) =>
      share(JSON.stringify(request), progress, signal, (tell, ended) =>
        guardStorage(`Image ${request.reference} could not be pulled`, () =>
          withWorkspace(pool, ended, async (space) => {
            const remote = await resolveRemote(space, request, options.registryMirror, tell);
            const reference = formatReference(remote.reference);
            const known = await lock(async () => {
              const found = (await store.list()).find((image) => image.sourceDigests.includes(remote.digest));
              if (found !== undefined) {
                await store.point(reference, found.digest);
              }
              return found;
            });
            if (known !== undefined) {
              tell({ step: "done", text: `${reference} is here already` });
              return toImage(known, await store.references());
            }
            const layout = await fetchRemote(space, pool, remote, tell);
            return await install(space, { layout, source: "registry", sourceDigests: [remote.digest] }, reference, tell);
          }),
        ),
      ),
    import: async (request, progress, signal) => {
      const reference = localReference(request.reference);
      return await guardStorage(`${request.path} could not be imported`, () =>
        withWorkspace(pool, signal, async (space) => {
          const { layout, format } = await importToLayout(space, request, progress);
          return await install(space, { layout, source: format, sourceDigests: [] }, reference, progress);
        }),
      );
    },
    build: (request, progress, signal) =>
      share(JSON.stringify(request), progress, signal, async (tell, ended) => {
        const reference = localReference(request.reference);
        return await guardStorage(`Image ${reference} could not be built`, () =>
          withWorkspace(pool, ended, async (space) => {
            const layout = await buildToLayout(space, request, tell);
            return await install(space, { layout, source: "mmdebstrap", sourceDigests: [] }, reference, tell);
          }),
        );
      }),
    ...createRemoval(store, lock),
    locate: (digest) => path.join(store.directoryOf(digest), "rootfs"),
  };
}

interface Made {
  readonly layout: string;
  readonly source: Image["source"];
  readonly sourceDigests: readonly string[];
}

async function unpackAndInstall(
  store: ImageStore,
  lock: <T>(work: () => Promise<T>) => Promise<T>,
  space: Workspace,
  made: Made,
  reference: string,
  progress: Progress,
): Promise<Image> {
  const layout = await readLayout(made.layout);
  const known = (await store.list()).find(({ digest }) => digest === layout.digest);
  const prepared = path.join(space.path, "image");
  let image = known;
  if (image === undefined) {
    const rootfs = await unpackLayout(space, made.layout, progress);
    image = {
      digest: layout.digest,
      platform: layout.platform,
      storedBytes: await storedBytesOf(rootfs),
      source: made.source,
      config: layout.config,
      createdAt: new Date().toISOString(),
      sourceDigests: [...new Set([...made.sourceDigests, layout.digest])],
    } satisfies StoredImage;
  }
  const stored = image;
  return await lock(async () => {
    await store.install(prepared, stored, reference);
    progress({ step: "done", text: `${reference} is ${stored.digest}` });
    return toImage(stored, await store.references());
  });
}

async function storedBytesOf(directory: string): Promise<number> {
  const { stdout } = await run("du", ["--summarize", "--block-size=1", directory]);
  return Number.parseInt(stdout, 10);
}

/** An image that is made here has a name of its own, not a digest that somebody else gave it. */
function localReference(text: string): string {
  const reference = parseReference(text);
  if (reference.digest !== null) {
    throw new TorporError("invalid_request", `${text} names a digest; an image that is imported or built gets its own.`, {
      hint: "Give a name with a tag.",
    });
  }
  return formatReference(reference);
}
