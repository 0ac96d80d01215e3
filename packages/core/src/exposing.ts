import { type ExposedPort, type ExposePortRequest, exposedLimit, portLabel, readPortLabel, TorporError } from "@torpor/contract";
import { alter } from "./altering.ts";
import type { Desk } from "./desk.ts";
import type { Patience } from "./patience.ts";
import type { SandboxRecord } from "./ports/store.ts";

/** Gives a port a host name, or changes who may use the one that it has. */
export async function expose(
  desk: Desk,
  idOrName: string,
  port: number,
  request: ExposePortRequest,
  patience: Patience,
): Promise<ExposedPort> {
  const isPublic = request.public ?? false;
  const record = await alter(desk, idOrName, patience, async ({ id, name, ports = [] }, now) => {
    const before = ports.find((exposed) => exposed.port === port);
    if (before?.public === isPublic) return { sandbox: {}, events: [] };
    if (before === undefined && ports.length >= exposedLimit) {
      throw new TorporError("too_many_ports", `sandbox ${name} has ${exposedLimit} ports with an address: take one away first`);
    }
    const exposed = { port, public: isPublic, label: portLabel(id, port), exposedAt: before?.exposedAt ?? now.toISOString() };
    return { sandbox: { ports: [...without(ports, port), exposed] }, events: [{ type: "port.exposed", data: { port, public: isPublic } }] };
  });
  return exposedOf(record, port);
}

export async function unexpose(desk: Desk, idOrName: string, port: number, patience: Patience): Promise<void> {
  await alter(desk, idOrName, patience, async (sandbox) => {
    exposedOf(sandbox, port);
    return { sandbox: { ports: without(sandbox.ports ?? [], port) }, events: [{ type: "port.unexposed", data: { port } }] };
  });
}

/** The port that a host name's first label means. Of a sandbox or port that there is not: `port_not_exposed`, the same for both. */
export async function findExposed({ ports }: Desk, label: string): Promise<ExposedPort & { readonly sandboxId: string }> {
  const meant = readPortLabel(label);
  const sandbox = meant && (await ports.store.findSandbox(meant.sandboxId));
  const exposed = sandbox?.ports?.find((each) => each.port === meant?.port);
  if (sandbox === undefined || exposed === undefined) {
    throw new TorporError("port_not_exposed", `nothing is exposed at ${label}`, {
      hint: "torpor port list SANDBOX shows what is; torpor port expose SANDBOX PORT gives a port an address",
    });
  }
  return { ...exposed, sandboxId: sandbox.id };
}

function exposedOf({ name, ports = [] }: SandboxRecord, port: number): ExposedPort {
  const exposed = ports.find((each) => each.port === port);
  if (exposed !== undefined) return exposed;
  throw new TorporError("port_not_exposed", `port ${port} of sandbox ${name} has no address`, {
    hint: `torpor port expose ${name} ${port} gives it one`,
  });
}

function without(ports: readonly ExposedPort[], port: number): ExposedPort[] {
  return ports.filter((exposed) => exposed.port !== port);
}
