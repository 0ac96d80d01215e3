import { type Image, type ImportImageRequest, type PullImageRequest, TorporError } from "@torpor/contract";
import type { Images } from "../ports/images.ts";

/** Knows `present` images from the start and can pull those that are `remote`. */
export class MemoryImages implements Images {
  readonly #images = new Map<string, Image>();
  readonly #remote: ReadonlySet<string>;

  constructor({ present = ["debian"], remote = ["python:3.12"] }: { present?: readonly string[]; remote?: readonly string[] } = {}) {
    for (const reference of present) this.#add(reference);
    this.#remote = new Set(remote);
  }

  async find(reference: string): Promise<Image | undefined> {
    const short = reference.replace(/^sha256:/, "");
    const byDigest = short.length >= 8 ? (image: Image) => image.digest.slice("sha256:".length).startsWith(short) : () => false;
    return [...this.#images.values()].find((image) => image.references.includes(reference) || byDigest(image));
  }

  async list(): Promise<Image[]> {
    return [...this.#images.values()];
  }

  async pull({ reference }: PullImageRequest): Promise<Image> {
    if (!this.#remote.has(reference)) throw new TorporError("image_not_found", `image ${reference} is neither here nor at its source`);
    return this.#add(reference);
  }

  async import({ reference }: ImportImageRequest): Promise<Image> {
    return this.#add(reference);
  }

  async build({ reference }: { reference: string }): Promise<Image> {
    return this.#add(reference);
  }

  async remove(reference: string, inUse: ReadonlySet<string>): Promise<Image> {
    const image = await this.find(reference);
    if (image === undefined) throw new TorporError("image_not_found", `there is no image ${reference}`);
    const references = image.references.filter((each) => each !== reference);
    if (references.length === 0 || reference.startsWith("sha256:")) {
      if (inUse.has(image.digest)) throw new TorporError("image_in_use", `sandboxes need image ${reference}: remove them first`);
      this.#images.delete(image.digest);
    } else this.#images.set(image.digest, { ...image, references });
    return image;
  }

  async prune(inUse: ReadonlySet<string>): Promise<{ removed: string[]; freedBytes: number }> {
    const unused = [...this.#images.values()].filter(({ digest }) => !inUse.has(digest));
    for (const { digest } of unused) this.#images.delete(digest);
    return { removed: unused.map(({ digest }) => digest), freedBytes: unused.reduce((sum, { storedBytes }) => sum + storedBytes, 0) };
  }

  locate(digest: string): string {
    return `memory:${digest}`;
  }

  #add(reference: string): Image {
    const image: Image = {
      digest: digestOf(reference),
      references: [reference],
      platform: "linux/amd64",
      storedBytes: 1024,
      source: "registry",
      config: { env: { FROM_IMAGE: reference }, user: null, workdir: "/root", ...commandOf(reference) },
      createdAt: "2026-01-01T00:00:00.000Z",
    };
    this.#images.set(image.digest, image);
    return image;
  }
}

/** Images of services have a command. */
function commandOf(reference: string): { entrypoint: string[]; cmd: string[] } {
  return reference.startsWith("service") ? { entrypoint: ["sleep"], cmd: ["600"] } : { entrypoint: [], cmd: [] };
}

/** Not a real digest, but of its shape and always the same for a reference. */
function digestOf(reference: string): string {
  let digits = "";
  for (let round = 0; digits.length < 64; round++) {
    let hash = 2166136261 ^ round;
    for (const character of reference) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
    digits += (hash >>> 0).toString(16).padStart(8, "0");
  }
  return `sha256:${digits}`;
}
