import type { Ports } from "../ports/ports.ts";
import type { SupervisedRecord } from "../ports/supervised-store.ts";

interface Child {
  readonly sandboxId: string;
  readonly parentId: string;
  readonly runtimeId: string;
}

/** A child that came with its parent's memory has the parent's processes: they are supervised in it too, from where they are. */
export async function adopt({ store, engine }: Pick<Ports, "store" | "engine">, child: Child): Promise<readonly SupervisedRecord[]> {
  const candidates = await store.listSupervised(child.parentId);
  if (candidates.length === 0) return [];
  const guest = await engine.guest(child.runtimeId);
  const there = new Set((await guest.sessions.list()).map(({ id }) => id));
  const adopted = candidates.filter(({ id }) => there.has(id)).map((record) => ({ ...record, sandboxId: child.sandboxId, version: 0 }));
  if (adopted.length > 0) await store.commit({ supervised: adopted });
  return adopted;
}
