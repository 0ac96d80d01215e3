import { type RefreshRequest, TorporError, type UpdateSandboxRequest } from "@torpor/contract";
import { alter } from "../altering.ts";
import type { Desk } from "../desk.ts";
import { changedLabels } from "../labels.ts";
import { notRunning } from "../lifecycle/refusals.ts";
import type { Patience } from "../patience.ts";
import type { SandboxRecord } from "../ports/store.ts";
import { changedAt, refreshedAt } from "./instants.ts";
import { checkSettings, settingsOf } from "./settings.ts";

/** Changes a sandbox's labels, and how its life is bounded in time. The event has what was asked for. */
export function update(desk: Desk, idOrName: string, request: UpdateSandboxRequest, patience: Patience): Promise<SandboxRecord> {
  return alter(desk, idOrName, patience, async (sandbox, now) => {
    const changed = settingsOf(request);
    await checkSettings(desk.ports, { ...settingsOf(sandbox), ...changed });
    const { labels } = request;
    return {
      sandbox: { ...changedAt(sandbox, changed, now), labels: changedLabels(sandbox.labels, labels) },
      events: [{ type: "sandbox.updated", data: labels === undefined ? changed : { ...changed, labels } }],
    };
  });
}

/** It runs on: a use of the sandbox by somebody who wants nothing of it now. No event: who keeps one alive does so all the time. */
export function refresh(desk: Desk, idOrName: string, { ttlMs }: RefreshRequest, patience: Patience): Promise<SandboxRecord> {
  return alter(desk, idOrName, patience, async (sandbox, now) => {
    if (sandbox.state !== "running") throw notRunning(sandbox);
    const lasts = ttlMs ?? sandbox.ttlMs ?? null;
    if (lasts === null && sandbox.idleMs == null) {
      throw new TorporError("invalid_request", `sandbox ${sandbox.name} has no ttl that could begin anew`, {
        hint: `give one with torpor refresh --ttl, or set it with torpor update --ttl`,
      });
    }
    return { sandbox: refreshedAt(sandbox, lasts, now), events: [] };
  });
}
