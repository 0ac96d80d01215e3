import type { Sandbox } from "@torpor/contract";
import { isSettled } from "../state/sandboxes.ts";

/** Of a sandbox that runs and is kept from going on until the pool has room. */
interface MayBeHeld {
  readonly state: Sandbox["state"];
  readonly held?: { readonly since: string } | null | undefined;
}

export const isHeld = ({ state, held }: MayBeHeld) => state === "running" && held !== undefined && held !== null;

/** A sandbox's state as a word, with a mark. */
export function StateMark({ sandbox }: { readonly sandbox: Sandbox | { readonly state: "gone" } }) {
  if (sandbox.state === "gone") return <span class="state gone">gone</span>;
  if (isHeld(sandbox)) {
    return (
      <span class="state failed" title="The pool is full: it goes on by itself when there is room">
        held
      </span>
    );
  }
  return <span class={`state ${sandbox.state}${isSettled(sandbox) ? "" : " busy"}`}>{sandbox.state}</span>;
}
