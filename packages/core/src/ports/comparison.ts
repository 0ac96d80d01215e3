import type { Difference } from "@torpor/contract";

/** A file system as a sandbox has it: its disk over its image. As `Disks.locate` and `Images.locate` give them. */
export interface FileTree {
  /** null: the image alone. */
  readonly disk: string | null;
  readonly image: string;
}

/** Tells how two trees differ, by their files alone. */
export interface Comparison {
  /**
   * What has to be done to `before` to make it `after`: a directory stands before what is in it, names are sorted by their bytes. Of each disk it
   * takes what is on it when the first difference is asked for; what nobody synced is not seen. A disk may be in use meanwhile: it is neither
   * changed nor mounted, and nothing is left when the iteration ends or the process does. A disk that is not there
   * is `storage_failed` with the details `missing: "disk"`.
   */
  compare(before: FileTree, after: FileTree, signal?: AbortSignal): AsyncIterable<Difference>;
}
