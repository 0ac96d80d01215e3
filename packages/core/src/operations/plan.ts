import { type ForkRequest, type PauseRequest, SandboxName, TorporError } from "@torpor/contract";
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

function planChildren(ports: Ports, { name, count = 1 }: ForkRequest): readonly PlannedChild[] {
  return Array.from({ length: count }, (_, index) => {
    const id = ports.ids.next("sb");
    const given = name !== undefined && count > 1 ? `${name}-${index + 1}` : name;
    return { id, operationId: ports.ids.next("op"), name: given === undefined ? generateName(id) : checked(given) };
  });
}

/** A name that was right may be too long with its number. */
function checked(name: string): string {
  const { success, error } = SandboxName.safeParse(name);
  if (!success) throw new TorporError("invalid_name", `a child can't be called ${name}: ${error.issues[0]?.message ?? "it is malformed"}`);
  return name;
}
