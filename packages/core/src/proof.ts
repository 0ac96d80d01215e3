import type { OperationKind } from "@torpor/contract";
import type { Crosser } from "./lifecycle/crossings.ts";
import type { Command, SettledState } from "./lifecycle/states.ts";
import type { variants } from "./operations/procedures.ts";

/** A test by its file, from packages/core/src on, and its name. */
export interface Proof {
  readonly file: string;
  readonly test: string;
}

/** Which test has which cell of the reference: told by whoever renders it, since the lifecycle knows no tests. */
export interface Proofs {
  rest(command: Command, state: SettledState): Proof;
  course(command: Command, part: "meanwhile" | "success" | "failure"): Proof;
  crossing(active: OperationKind, crosser: Crosser): Proof;
  phases(variant: keyof typeof variants): Proof;
}

/** Words of docs/reference as a link to the test that proves them; its name is shown when they are pointed at. */
export function proven(words: string, { file, test }: Proof): string {
  return `[${words}](../../packages/core/src/${file} "${test}")`;
}
