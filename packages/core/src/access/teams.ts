import { defaultTeam, TorporError } from "@torpor/contract";
import { notFound } from "../lifecycle/refusals.ts";
import type { Store } from "../ports/store.ts";

/** Of a sandbox or snapshot; those from before there were teams are in the default one. */
export function teamOf({ team }: { readonly team?: string | undefined }): string {
  return team ?? defaultTeam;
}

/** Something that a call names. `id` is an id or a name. */
export interface Named {
  readonly kind: "sandbox" | "snapshot" | "operation" | "webhook";
  readonly id: string;
  /** It is only looked at: then also what is kept of a removed sandbox is nobody's, since its team is not known any more. */
  readonly reading?: boolean;
}

/**
 * Lets somebody of one team name that team's things: those of others are as if they were not there. What is not there at all is left to who looks
 * for it.
 */
export async function requireOwn(store: Store, team: string, named: Named): Promise<void> {
  const refusal = await refusals[named.kind](store, team, named);
  if (refusal !== undefined) throw refusal;
}

type Refusal = (store: Store, team: string, named: Named) => Promise<TorporError | undefined>;

const refusals: Record<Named["kind"], Refusal> = {
  async sandbox(store, team, { id, reading = false }) {
    const found = await store.findSandbox(id);
    return (found === undefined ? reading : teamOf(found) !== team) ? notFound(id) : undefined;
  },
  async snapshot(store, team, { id }) {
    const found = await store.findSnapshot(id);
    return found === undefined || teamOf(found) === team ? undefined : new TorporError("snapshot_not_found", `there is no snapshot ${id}`);
  },
  async webhook(store, team, { id }) {
    const found = await store.findWebhook(id);
    return found === undefined || found.team === team ? undefined : new TorporError("webhook_not_found", `there is no webhook ${id}`);
  },
  async operation(store, team, { id }) {
    const found = await store.findOperation(id);
    // Whose a removed sandbox was is not known any more.
    const own = found === undefined || (await new Sight(store, team).sees(found.sandboxId));
    return own ? undefined : new TorporError("operation_not_found", `there is no operation ${id}`);
  },
};

/** Which sandboxes a team sees. One that it saw once it knows also when it is gone: the last event of a sandbox comes then. */
export class Sight {
  readonly #store: Store;
  readonly #team: string;
  readonly #known = new Map<string, boolean>();

  constructor(store: Store, team: string) {
    this.#store = store;
    this.#team = team;
  }

  async lookAround(): Promise<void> {
    for (const sandbox of await this.#store.listSandboxes()) this.#known.set(sandbox.id, teamOf(sandbox) === this.#team);
  }

  async sees(sandboxId: string): Promise<boolean> {
    const known = this.#known.get(sandboxId);
    if (known !== undefined) return known;
    const found = await this.#store.findSandbox(sandboxId);
    const own = found !== undefined && teamOf(found) === this.#team;
    this.#known.set(sandboxId, own);
    return own;
  }
}
