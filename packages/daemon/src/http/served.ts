import type { Info } from "@torpor/contract";
import type { Ids, Images, Lifecycle } from "@torpor/core";

/** Everything that HTTP is given: it asks the lifecycle, and knows no engine, store or disk. */
export interface Served {
  readonly lifecycle: Lifecycle;
  readonly images: Images;
  readonly ids: Ids;
  info(): Promise<Info>;
  /** The address of an exposed port by its label; null where the daemon listens at no address that has one. */
  portUrl(label: string): string | null;
}
