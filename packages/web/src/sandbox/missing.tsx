import type { FamilyMember } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { listFamily } from "../api/calls.ts";
import { Timeline } from "./timeline.tsx";

/** A sandbox that is not there: of one that was removed, what is still known. */
export function Missing({ name }: { readonly name: string }) {
  const removed = useRemoved(name);
  return (
    <>
      <div class="empty">
        <h1>{removed === undefined ? `There is no sandbox ${name}` : `${removed.name ?? removed.id} was removed`}</h1>
        <p>
          {removed?.removedAt == null
            ? "It was removed, or has another name. Its relatives may still be there: see the family."
            : `That was at ${new Date(removed.removedAt).toLocaleString()}. Its snapshots and its forks live on: see the family.`}
        </p>
        <div class="row">
          <a class="button" href="/">
            All sandboxes
          </a>
          <a class="button" href="/family">
            Family
          </a>
        </div>
      </div>
      {removed === undefined ? null : <Timeline id={removed.id} operationId={undefined} />}
    </>
  );
}

/** Of several that had the name: the last. */
function useRemoved(idOrName: string): FamilyMember | undefined {
  const [found, setFound] = useState<FamilyMember | undefined>(undefined);
  useEffect(() => {
    let gone = false;
    listFamily().then(
      (members) => {
        if (!gone) setFound(members.findLast(({ id, name, removedAt }) => removedAt !== null && (id === idOrName || name === idOrName)));
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [idOrName]);
  return found;
}
