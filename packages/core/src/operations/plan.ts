import { type ForkRequest, type PauseRequest, SandboxName, TorporError } from "@torpor/contract";
import { nameTakenTwice } from "../lifecycle/refusals.ts";
import type { Command } from "../lifecycle/states.ts";
import { generateName } from "../names.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";
import type { PlannedChild } from "./fork.ts";

/** The ids of everything an operation may make, fixed before it begins so that each phase can be repeated. */
export function plan(
  ports: Ports,
  sandbox: SandboxRecord,
  command: Command,
  request: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  switch (command) {
    case "pause":
      return (request as PauseRequest).memory === false ? {} : { checkpointId: ports.ids.next("ck") };
    case "resume":
    case "start":
      // A disk with a checkpoint bound to it is never written again: the sandbox goes on from a copy.
      return { runtimeId: ports.ids.next("rt"), diskId: sandbox.checkpoint === null ? sandbox.diskId : ports.ids.next("dk") };
    case "fork":
      return planFork(ports, sandbox, request as ForkRequest);
    case "stop":
    case "remove":
      return {};
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

function planChildren(ports: Ports, request: ForkRequest): readonly PlannedChild[] {
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
