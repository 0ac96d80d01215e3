import { fromErrorBody } from "@torpor/contract";
import { ask } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { Patience } from "../patience.ts";
import type { Waker } from "./waking.ts";

/** Waits as long as it takes: those who wait for it have a patience of their own. */
export async function resumeForCall(desk: Desk, idOrName: string, actor: Waker): Promise<void> {
  const patience = new Patience(desk.ports.clock, undefined);
  const { ended } = await ask(desk, { idOrName, command: "resume", request: {}, actor, patience, keyFor: () => [] });
  const operation = await ended;
  if (operation?.error != null) throw fromErrorBody({ error: operation.error });
}
