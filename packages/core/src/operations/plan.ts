import { type CreateSnapshotRequest, type ForkRequest, type PauseRequest, SandboxName, TorporError } from "@torpor/contract";
import { nameTakenTwice } from "../lifecycle/refusals.ts";
import type { Command } from "../lifecycle/states.ts";
import { generateName } from "../names.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";
import type { PlannedChild } from "./fork.ts";
import { planRebase, planRestore } from "./plan-exchange.ts";
import type { Plan } from "./plan-shape.ts";

/** What a command begins with, if it may begin; its own refusals are those of its request. */
export async function plan(
  ports: Ports,
  sandbox: SandboxRecord,
  command: Command,
  request: Readonly<Record<string, unknown>>,
): Promise<Plan> {
  switch (command) {
    case "pause":
      return { notes: (request as PauseRequest).memory === false ? {} : { checkpointId: ports.ids.next("ck") } };
    case "resume":
    case "start":
      // A disk with a checkpoint bound to it is never written again: the sandbox goes on from a copy.
      return { notes: { runtimeId: ports.ids.next("rt"), diskId: sandbox.checkpoint === null ? sandbox.diskId : ports.ids.next("dk") } };
    case "fork":
      return { notes: planFork(ports, sandbox, request as ForkRequest) };
    case "snapshot":
      return { notes: planSnapshot(ports, request as CreateSnapshotRequest) };
    case "restore":
      return planRestore(ports, sandbox, request);
    case "rebase":
      return planRebase(ports, sandbox, request);
    case "stop":
    case "remove":
      return { notes: {} };
  }
}

function planFork(ports: Ports, sandbox: SandboxRecord, request: ForkRequest): Record<string, unknown> {
  const running = sandbox.state === "running";
  const ownCheckpoint = running ? ports.ids.next("ck") : (sandbox.checkpoint?.id ?? null);
  return {
    fromDiskId: running ? ports.ids.next("dk") : sandbox.diskId,
    checkpointId: request.memory === false ? null : ownCheckpoint,
    children: planChildren(ports, request),
  };
}

function planSnapshot(ports: Ports, { name, memory, expiresAt }: CreateSnapshotRequest): Record<string, unknown> {
  requireFuture(ports, expiresAt);
  const snapshotId = ports.ids.next("sn");
  return {
    snapshotId,
    name: name ?? generateName(snapshotId),
    fromDiskId: ports.ids.next("dk"),
    checkpointId: memory === false ? null : ports.ids.next("ck"),
  };
}

export function requireFuture({ clock }: Ports, expiresAt: string | null | undefined): void {
  if (expiresAt === undefined || expiresAt === null || Date.parse(expiresAt) > clock.now().getTime()) return;
  throw new TorporError("invalid_request", `expiresAt ${expiresAt} is not in the future`, { details: { field: "expiresAt" } });
}

export function planChildren(ports: Ports, request: ForkRequest): readonly PlannedChild[] {
  const given = namesOf(request);
  const taken = new Set<string>();
  return given.map((name) => {
    const { id, name: own } = name === undefined ? unnamed(ports, taken) : { id: ports.ids.next("sb"), name };
    if (taken.has(own)) throw nameTakenTwice(own);
    taken.add(own);
    return { id, operationId: ports.ids.next("op"), name: own };
  });
}

/** undefined: a child that gets a generated one. */
function namesOf({ name, names, count = 1 }: ForkRequest): readonly (string | undefined)[] {
  if (names !== undefined) return names;
  if (name === undefined || count === 1) return Array.from({ length: count }, () => name);
  return Array.from({ length: count }, (_, index) => checked(`${name}-${index + 1}`));
}

/** Nobody asked for a generated name, so no fork fails for one that came twice. */
function unnamed(ports: Ports, taken: ReadonlySet<string>): { readonly id: string; readonly name: string } {
  for (;;) {
    const id = ports.ids.next("sb");
    const name = generateName(id);
    if (!taken.has(name)) return { id, name };
  }
}

/** A name that was right may be too long with its number. */
function checked(name: string): string {
  const { success, error } = SandboxName.safeParse(name);
  if (!success) throw new TorporError("invalid_name", `a child can't be called ${name}: ${error.issues[0]?.message ?? "it is malformed"}`);
  return name;
}
