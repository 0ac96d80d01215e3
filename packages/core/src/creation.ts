import type { CreateSandboxRequest } from "@torpor/contract";
import type { Asking } from "./asking.ts";
import { createFromSnapshot } from "./creation-from-snapshot.ts";
import type { Desk } from "./desk.ts";
import type { KeyFor } from "./idempotency.ts";
import { imageMissing, nameTaken } from "./lifecycle/refusals.ts";
import { generateName } from "./names.ts";
import { commitBirth, type Maker } from "./operations/birth.ts";
import { checkSettings, settingsOf } from "./time/settings.ts";
import { requireCapability, resolveResources } from "./validation.ts";

/** Begins the making of a sandbox. */
export async function create(desk: Desk, request: CreateSandboxRequest, by: Maker, keyFor: KeyFor): Promise<Asking> {
  desk.teams.requireCredit(by.team);
  return (request.snapshot === undefined ? createFromImage : createFromSnapshot)(desk, request, by, keyFor);
}

async function createFromImage({ ports, runner }: Desk, request: CreateSandboxRequest, by: Maker, keyFor: KeyFor): Promise<Asking> {
  await requireCapability(ports, "create");
  const resources = resolveResources(ports, request.resources);
  const time = settingsOf(request);
  await checkSettings(ports, time);
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
    ...by,
    name,
    image: { reference, digest: image?.digest ?? "" },
    resources,
    ...askedOf(request),
    time,
    parentId: null,
    fork: null,
    from: null,
    request,
  };
  const { sandbox, operation } = await commitBirth(ports, draft, keyFor(draft.operationId));
  return { sandboxId, operation, ended: runner.run(sandbox, operation) };
}

/** What was asked for, or the defaults. */
function askedOf({ env = {}, workdir, user, network = "default", labels = {}, restart, selfControl }: CreateSandboxRequest) {
  const optional = { ...(restart === undefined ? {} : { restart }), ...(selfControl === undefined ? {} : { selfControl }) };
  return { env, workdir: workdir ?? null, user: user ?? null, network, labels, ...optional };
}
