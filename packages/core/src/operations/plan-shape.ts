import type { SnapshotRecord } from "../ports/store.ts";

/** What an operation begins with. */
export interface Plan {
  /** The ids of everything an operation may make, fixed before it begins so that each phase can be repeated. */
  readonly notes: Readonly<Record<string, unknown>>;
  /** Its record moves on with the beginning, so that nobody can remove it in between. */
  readonly uses?: SnapshotRecord;
}
