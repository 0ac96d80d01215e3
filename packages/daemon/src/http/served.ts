import type { Info } from "@torpor/contract";
import type { Ids, Images, Lifecycle } from "@torpor/core";
import type { Metrics } from "../metrics/metrics.ts";

/** Everything that HTTP is given: it asks the lifecycle, and knows no engine, store or disk. */
export interface Served {
  readonly lifecycle: Lifecycle;
  readonly images: Images;
  readonly ids: Ids;
  readonly metrics: Metrics;
  info(): Promise<Info>;
  /** The address of an exposed port by its label; null where the daemon listens at no address that has one. */
  portUrl(label: string): string | null;
}
