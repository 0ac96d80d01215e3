import { computed, signal } from "@preact/signals";
import type { Sandbox } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { getSandbox, listSandboxes } from "../api/calls.ts";

export type Sandboxes = ReadonlyMap<string, Sandbox>;

/** All sandboxes by id; undefined before the first answer. */
export const sandboxes = signal<Sandboxes | undefined>(undefined);
/** Whether the daemon answered last time. */
export const reachable = signal(true);

export const newestFirst = computed(() =>
  [...(sandboxes.value?.values() ?? [])].sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0)),
);

export const isSettled = ({ state }: Sandbox) => state === "running" || state === "paused" || state === "stopped" || state === "failed";

export function findSandbox(idOrName: string): Sandbox | undefined {
  const all = sandboxes.value;
  return all?.get(idOrName) ?? [...(all?.values() ?? [])].find(({ name }) => name === idOrName);
}

/** With a record that has come; an answer that was overtaken by a newer one changes nothing. */
export function withSandbox(all: Sandboxes, sandbox: Sandbox): Sandboxes {
  const known = all.get(sandbox.id);
  return known !== undefined && known.updatedAt > sandbox.updatedAt ? all : new Map(all).set(sandbox.id, sandbox);
}

export function putSandbox(sandbox: Sandbox): void {
  sandboxes.value = withSandbox(sandboxes.value ?? new Map(), sandbox);
}

export function dropSandbox(id: string): void {
  const rest = new Map(sandboxes.value ?? []);
  if (rest.delete(id)) sandboxes.value = rest;
}

export async function refreshAll(): Promise<void> {
  const listed = await told(listSandboxes());
  const before = sandboxes.value ?? new Map<string, Sandbox>();
  // Those that are gone are left out; of the others the newer record stays.
  sandboxes.value = listed.reduce<Sandboxes>(withSandbox, new Map([...before].filter(([id]) => listed.some((one) => one.id === id))));
}

const asked = new Map<string, Promise<void>>();

/** Fetches one record; calls for the same sandbox at the same time are one. */
export function refresh(id: string): Promise<void> {
  const running = asked.get(id);
  if (running !== undefined) return running;
  const fresh = fetchOne(id).finally(() => asked.delete(id));
  asked.set(id, fresh);
  return fresh;
}

async function fetchOne(id: string): Promise<void> {
  try {
    putSandbox(await told(getSandbox(id)));
  } catch (error) {
    if (error instanceof TorporError && error.code === "sandbox_not_found") dropSandbox(id);
    else throw error;
  }
}

/** Notes whether the daemon is there. */
async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    const value = await answer;
    reachable.value = true;
    return value;
  } catch (error) {
    reachable.value = !(error instanceof TorporError && error.code === "daemon_unreachable");
    throw error;
  }
}
