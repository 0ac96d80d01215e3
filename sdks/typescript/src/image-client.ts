import type { BuildImageRequest, Image, ImageProgress, ImportImageRequest, PullImageRequest, RouteName } from "@torpor/contract";
import { createError } from "./errors.ts";
import { linesOf } from "./lines.ts";
import { type Transport, toError } from "./transport.ts";

export type OnProgress = (progress: Extract<ImageProgress, { progress: unknown }>["progress"]) => void;

/** Images of a daemon. */
export class ImageClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(): Promise<Image[]> {
    return (await this.#transport.json<{ images: Image[] }>("listImages")).images;
  }

  pull(request: PullImageRequest, progress?: OnProgress): Promise<Image> {
    return this.#follow("pullImage", request, progress);
  }

  import(request: ImportImageRequest, progress?: OnProgress): Promise<Image> {
    return this.#follow("importImage", request, progress);
  }

  build(request: BuildImageRequest, progress?: OnProgress): Promise<Image> {
    return this.#follow("buildImage", request, progress);
  }

  remove(reference: string): Promise<Image> {
    return this.#transport.json("removeImage", { query: { reference } });
  }

  prune(): Promise<{ removed: string[]; freedBytes: number }> {
    return this.#transport.json("pruneImages");
  }

  async #follow(name: RouteName, body: unknown, progress: OnProgress = () => {}): Promise<Image> {
    const answer = await this.#transport.call(name, { body, headers: { accept: "application/x-ndjson" } });
    for await (const text of linesOf(answer)) {
      if (text === "") continue;
      const line = JSON.parse(text) as ImageProgress;
      if ("progress" in line) progress(line.progress);
      else if ("image" in line) return line.image;
      else throw toError(line.error as Parameters<typeof toError>[0]);
    }
    throw createError("connection_lost", "the connection to torpord broke off before the image was there", {
      hint: "The work goes on: ask again for its outcome.",
    });
  }
}
