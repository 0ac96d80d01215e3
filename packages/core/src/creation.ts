import { type Actor, type CreateSandboxRequest, TorporError } from "@torpor/contract";
import type { Asking, Desk } from "./desk.ts";
import type { KeyFor } from "./idempotency.ts";
import { nameTaken } from "./lifecycle/refusals.ts";
import { generateName } from "./names.ts";
import { commitBirth } from "./operations/birth.ts";
import { checkSettings, settingsOf } from "./time/settings.ts";
import { requireCapability, resolveResources } from "./validation.ts";

/** Begins the making of a sandbox. */
export async function create({ ports, runner }: Desk, request: CreateSandboxRequest, actor: Actor, keyFor: KeyFor): Promise<Asking> {
  await requireCapability(ports, "create");
  const resources = resolveResources(ports, request.resources);
  const time = settingsOf(request);
  await checkSettings(ports, time);
  const sandboxId = ports.ids.next("sb");
  const name = request.name ?? generateName(sandboxId);
  // Looked up before anything is made; the store's unique index decides between two at the same instant.
  if ((await ports.store.findSandbox(name)) !== undefined) throw nameTaken(name);
  const image = await ports.images.find(request.image);
  if (image === undefined && request.pull === false) {
    throw new TorporError("image_not_found", `image ${request.image} is not here`, { hint: `torpor image pull ${request.image}` });
  }
  const draft = {
    sandboxId,
    operationId: ports.ids.next("op"),
    actor,
    name,
    image: { reference: request.image, digest: image?.digest ?? "" },
    resources,
    env: request.env ?? {},
    workdir: request.workdir ?? null,
    user: request.user ?? null,
    network: request.network ?? "default",
    labels: request.labels ?? {},
    ...(request.restart === undefined ? {} : { restart: request.restart }),
    ...(request.selfControl === undefined ? {} : { selfControl: request.selfControl }),
    time,
    parentId: null,
    fork: null,
    from: null,
    request,
  };
  const { sandbox, operation } = await commitBirth(ports, draft, keyFor(draft.operationId));
  return { sandboxId, operation, ended: runner.run(sandbox, operation) };
}
