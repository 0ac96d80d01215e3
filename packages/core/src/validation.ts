import { type CreateSandboxRequest, type capabilityNames, type Resources, TorporError } from "@torpor/contract";
import type { Ports } from "./ports/ports.ts";

const mebibyte = 1024 * 1024;
export const defaultResources: Resources = { memoryBytes: 512 * mebibyte, cpus: 1, diskBytes: 10 * 1024 * mebibyte, pids: 4096 };

/** What the node and its engine can give; what the contract can't know. */
export function resolveResources(ports: Ports, asked: CreateSandboxRequest["resources"]): Resources {
  const { memoryBytes, cpus, diskBytes, pids } = asked ?? {};
  const resources: Resources = {
    memoryBytes: memoryBytes ?? defaultResources.memoryBytes,
    cpus: cpus ?? Math.min(defaultResources.cpus, ports.node.cpus),
    diskBytes: diskBytes ?? defaultResources.diskBytes,
    pids: pids ?? defaultResources.pids,
  };
  checkFits(ports, resources);
  ports.engine.validate(resources);
  return resources;
}

export function checkFits({ node }: Ports, { memoryBytes, cpus }: Resources): void {
  if (memoryBytes > node.memoryBytes) {
    const message = `${inMebibytes(memoryBytes)} of memory were asked for, the node has ${inMebibytes(node.memoryBytes)}: ask for less`;
    throw new TorporError("capacity_exceeded", message, { details: { askedBytes: memoryBytes, nodeBytes: node.memoryBytes } });
  }
  if (cpus > node.cpus) {
    throw new TorporError("capacity_exceeded", `${cpus} CPUs were asked for, the node has ${node.cpus}: ask for less`, {
      details: { asked: cpus, node: node.cpus },
    });
  }
}

export async function requireCapability(ports: Ports, name: (typeof capabilityNames)[number]): Promise<void> {
  const { capabilities } = await ports.engine.describe();
  const capability = capabilities[name];
  if (capability?.supported) return;
  throw new TorporError(
    "capability_unsupported",
    `the engine ${ports.engine.name} can't ${name}: ${capability?.reason ?? "it does not say why"}`,
    {
      hint: "torpor capabilities shows what it can",
      details: { engine: ports.engine.name, capability: name },
    },
  );
}

function inMebibytes(bytes: number): string {
  return `${Math.round(bytes / mebibyte)} MiB`;
}
