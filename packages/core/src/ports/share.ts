/** A share of the node: what a sandbox holds of it, or what all of them together may hold. */
export interface Share {
  readonly memoryBytes: number;
  readonly cpus: number;
  /** As large as the disks may become: they take room as they are written. */
  readonly diskBytes: number;
}
