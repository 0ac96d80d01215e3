import type { Actor, CreateSandboxRequest } from "@torpor/contract";
import { createFromSnapshot } from "./creation-from-snapshot.ts";
import type { Asking, Desk } from "./desk.ts";
import type { KeyFor } from "./idempotency.ts";
import { imageMissing, nameTaken } from "./lifecycle/refusals.ts";
import { generateName } from "./names.ts";
import { commitBirth } from "./operations/birth.ts";
import { requireCapability, resolveResources } from "./validation.ts";

/** Begins the making of a sandbox. */
export function create(desk: Desk, request: CreateSandboxRequest, actor: Actor, keyFor: KeyFor): Promise<Asking> {
  return (request.snapshot === undefined ? createFromImage : createFromSnapshot)(desk, request, actor, keyFor);
}

async function createFromImage({ ports, runner }: Desk, request: CreateSandboxRequest, actor: Actor, keyFor: KeyFor): Promise<Asking> {
  await requireCapability(ports, "create");
  const resources = resolveResources(ports, request.resources);
  const sandboxId = ports.ids.next("sb");
  const name = request.name ?? generateName(sandboxId);
  // Looked up before anything is made; the store's unique index decides between two at the same instant.
  if ((await ports.store.findSandbox(name)) !== undefined) throw nameTaken(name);
  // The contract has it that one of the two is there.
  const reference = request.image ?? "";
  const image = await ports.images.find(reference);
  if (image === undefined && request.pull === false) {
    throw imageMissing(reference);
  }
  const draft = {
    sandboxId,
    operationId: ports.ids.next("op"),
    actor,
    name,
    image: { reference, digest: image?.digest ?? "" },
    resources,
    env: request.env ?? {},
    workdir: request.workdir ?? null,
    user: request.user ?? null,
    network: request.network ?? "default",
    labels: request.labels ?? {},
    ...(request.restart === undefined ? {} : { restart: request.restart }),
    ...(request.selfControl === undefined ? {} : { selfControl: request.selfControl }),
    parentId: null,
    fork: null,
    from: null,
    request,
  };
  const { sandbox, operation } = await commitBirth(ports, draft, keyFor(draft.operationId));
  return { sandboxId, operation, ended: runner.run(sandbox, operation) };
}
