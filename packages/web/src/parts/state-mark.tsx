import type { Sandbox } from "@torpor/contract";
import { isSettled } from "../state/sandboxes.ts";

type Shown = Pick<Sandbox, "state"> | { readonly state: "gone" };

/** A sandbox's state as a word, with a mark. */
export function StateMark({ sandbox }: { readonly sandbox: Shown }) {
  const busy = sandbox.state !== "gone" && !isSettled(sandbox as Sandbox);
  return <span class={`state ${sandbox.state}${busy ? " busy" : ""}`}>{sandbox.state}</span>;
}
