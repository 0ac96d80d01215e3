/** Where disks lie, for whoever looks after the room there without the daemon (native/internal/host/room.go has the same fields). */
export interface Storage {
  readonly pool: string;
  /** A directory of the file system that a loop-backed pool is a file in; empty: it is none. */
  readonly host: string;
  /** Left to the host's file system. */
  readonly hostReserveBytes: number;
  /** Of the pool, for what running sandboxes have not written to it yet. */
  readonly reserveBytes: number;
}
