import type { OperationAnswer, Sandbox } from "@torpor/contract";
import { sentence } from "../api/sentence.ts";
import { act, freshStart } from "../state/act.ts";

export type BulkVerb = "pause" | "resume" | "remove";
export type Outcome =
  | { readonly kind: "waiting" }
  | { readonly kind: "done"; readonly remark?: string | undefined }
  | { readonly kind: "failed"; readonly message: string };

/** So many at once: pauses write to the same disk. */
const atOnce = 4;

export const suits = (verb: BulkVerb, { state }: Sandbox): boolean =>
  verb === "remove" || (verb === "pause" ? state === "running" : state === "paused");

/** Does it to each, and tells of each one's outcome as it comes; a failure of one is none of the others. */
export async function doToAll(
  verb: BulkVerb,
  ids: readonly string[],
  told: (id: string, outcome: Outcome) => void,
  one = doToOne,
): Promise<void> {
  const waiting = [...ids];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      told(id, { kind: "waiting" });
      told(id, await one(verb, id));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

async function doToOne(verb: BulkVerb, id: string): Promise<Outcome> {
  try {
    return doneBy(await act(verb, id));
  } catch (error) {
    return { kind: "failed", message: sentence(error as Error) };
  }
}

/** A resume that could not bring the memory back is done, and not what was wanted. */
export function doneBy({ operation }: Pick<OperationAnswer, "operation">): Outcome {
  const reason = freshStart(operation);
  return reason === undefined ? { kind: "done" } : { kind: "done", remark: `started fresh from its files: ${reason}` };
}

export function tellOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case "waiting":
      return "at work…";
    case "done":
      return outcome.remark ?? "done";
    case "failed":
      return outcome.message;
  }
}
