/** One file of a checkpoint. */
export interface CheckpointPart {
  readonly name: string;
  readonly sizeBytes: number;
  /** `xxh3:` and 32 hex digits (128 bit). */
  readonly hash: string;
}

/** What a checkpoint is made of and bound to; written last, so a directory with a manifest is a whole checkpoint. */
export interface CheckpointManifest {
  readonly version: 1;
  readonly id: string;
  readonly sandboxId: string;
  /** The exact disk state it belongs to. */
  readonly diskId: string;
  readonly generation: number;
  readonly createdAt: string;
  /** Engine name, version, sha256 of its binary: a checkpoint is restored by the very same. */
  readonly engine: { readonly name: string; readonly version: string; readonly sha256: string };
  readonly guest: { readonly sha256: string };
  readonly image: { readonly digest: string };
  /** CPU features of the host that made it. */
  readonly cpu: { readonly architecture: string; readonly features: readonly string[] };
  /** What the engine needs to restore it (flags, spec); opaque to everybody else. */
  readonly restore: Readonly<Record<string, unknown>>;
  readonly parts: readonly CheckpointPart[];
}

/** Keeps checkpoints. Nothing half-written is ever visible: `read` and `list` know sealed ones only. */
export interface Checkpoints {
  /** A place to write parts into; an earlier unsealed place with the id is emptied. disk_full if less than `needBytes` are free. */
  begin(id: string, needBytes: number): Promise<string>;
  /** Makes what was written into the place durable: for whoever has something else to do meanwhile. `seal` does it as well. */
  flush(id: string): Promise<void>;
  /**
   * Makes the checkpoint visible under the id, whole. Repeatable. It outlives a power cut once this resolves, unless `durable` is false (default
   * true): then it may be gone or torn afterwards, which its hashes tell.
   */
  seal(manifest: CheckpointManifest, options?: { readonly durable?: boolean }): Promise<void>;
  /** Seals under the manifest's id the parts of another sealed one; blocks are shared where the pool can. Repeatable. */
  clone(sourceId: string, manifest: CheckpointManifest): Promise<void>;
  /**
   * undefined: no such checkpoint. checkpoint_corrupt: there is one, and its manifest can't be read. What it names is not checked:
   * files that were swapped are found by who knows what it should be.
   */
  read(id: string): Promise<CheckpointManifest | undefined>;
  /** Where the parts of a sealed checkpoint lie. */
  locate(id: string): string;
  /** Frees it, sealed or not. An unknown id is no change. */
  remove(id: string): Promise<void>;
  /** Sealed and unsealed ids, for the sweep of leftovers. */
  list(): Promise<string[]>;
}
