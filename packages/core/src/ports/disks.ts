/** A sandbox's writable disk: a block image of bounded size. Ids are given by the caller, so each call can be repeated. */
export interface Disks {
  /** A new empty disk. A repeat with the same id and size is no change. disk_full when the pool has no room. */
  create(id: string, sizeBytes: number): Promise<void>;
  /** A copy-on-write copy of the disk as it is now. The source must be frozen and synced, or not mounted. Repeatable. */
  clone(sourceId: string, id: string): Promise<void>;
  /** What was made or copied under the id is there after a power cut, once this resolves. It may be in use meanwhile. */
  sync(id: string): Promise<void>;
  /** Frees it. An unknown id is no change. */
  remove(id: string): Promise<void>;
  exists(id: string): Promise<boolean>;
  list(): Promise<string[]>;
  /** What the engine mounts: a path for real adapters. */
  locate(id: string): string;
  /** Bytes that it holds on the pool (shared ones counted too). */
  storedBytes(id: string): Promise<number>;
}
