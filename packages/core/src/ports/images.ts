import type { BuildImageRequest, Image, ImageProgress, ImportImageRequest, PullImageRequest } from "@torpor/contract";

export type Progress = (line: Extract<ImageProgress, { progress: unknown }>["progress"]) => void;

/** Images, unpacked once, read-only, under their digest; never changed once there. */
export interface Images {
  /** By reference, digest or a unique start of the digest (8 hex digits or more). */
  find(reference: string): Promise<Image | undefined>;
  list(): Promise<Image[]>;
  pull(request: PullImageRequest, progress: Progress, signal?: AbortSignal): Promise<Image>;
  import(request: ImportImageRequest, progress: Progress, signal?: AbortSignal): Promise<Image>;
  build(request: BuildImageRequest, progress: Progress, signal?: AbortSignal): Promise<Image>;
  /** Takes a reference away, and the image with its last one. image_in_use when `inUse` has its digest. */
  remove(reference: string, inUse: ReadonlySet<string>): Promise<Image>;
  /** Removes every image that has no reference or that nothing in `inUse` needs. */
  prune(inUse: ReadonlySet<string>): Promise<{ removed: string[]; freedBytes: number }>;
  /** What the engine mounts below a disk: the unpacked root file system. */
  locate(digest: string): string;
}
