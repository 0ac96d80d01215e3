import type { Event } from "@torpor/contract";
import { type Change, type OperationRecord, type SandboxRecord, type Store, StoreConflict } from "../ports/store.ts";

/** The store's contract in the smallest form: what is committed is a copy, so nothing is changed behind its back. */
export class MemoryStore implements Store {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #operations = new Map<string, OperationRecord>();
  readonly #events: Event[] = [];

  async commit({ sandboxes = [], operations = [], events = [], removed = [] }: Change): Promise<void> {
    for (const record of [...sandboxes, ...removed]) checkVersion(this.#sandboxes.get(record.id), record, `sandbox ${record.id}`);
    for (const record of operations) checkVersion(this.#operations.get(record.id), record, `operation ${record.id}`);
    const next = new Map(this.#sandboxes);
    for (const { id } of removed) next.delete(id);
    for (const record of sandboxes) next.set(record.id, copy({ ...record, version: record.version + 1 }));
    const nextOperations = new Map(this.#operations);
    for (const record of operations) nextOperations.set(record.id, copy({ ...record, version: record.version + 1 }));
    checkUnique(
      [...next.values()].map(({ name }) => name),
      "name",
    );
    checkUnique(
      [...next.values()].flatMap(({ address }) => (address === null ? [] : [address])),
      "address",
    );
    checkUnique(
      [...nextOperations.values()].filter(({ status }) => status === "running").map(({ sandboxId }) => sandboxId),
      "operation",
    );
    replace(this.#sandboxes, next);
    replace(this.#operations, nextOperations);
    for (const event of events) this.#events.push(copy({ ...event, seq: this.#events.length + 1 }));
  }

  async findSandbox(idOrName: string): Promise<SandboxRecord | undefined> {
    const found = this.#sandboxes.get(idOrName) ?? [...this.#sandboxes.values()].find(({ name }) => name === idOrName);
    return found && copy(found);
  }

  async listSandboxes(): Promise<SandboxRecord[]> {
    return [...this.#sandboxes.values()].sort((a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id)).map(copy);
  }

  async findOperation(id: string): Promise<OperationRecord | undefined> {
    const found = this.#operations.get(id);
    return found && copy(found);
  }

  async listOperations(sandboxId: string): Promise<OperationRecord[]> {
    return [...this.#operations.values()]
      .filter((record) => record.sandboxId === sandboxId)
      .reverse()
      .map(copy);
  }

  async runningOperations(): Promise<OperationRecord[]> {
    return [...this.#operations.values()].filter(({ status }) => status === "running").map(copy);
  }

  async listEvents({ sandboxId, after = 0, limit = 1000 }: { sandboxId?: string; after?: number; limit?: number }): Promise<Event[]> {
    const wanted = this.#events.filter((event) => event.seq > after && (sandboxId === undefined || event.sandboxId === sandboxId));
    return wanted.slice(0, limit).map(copy);
  }

  async close(): Promise<void> {}
}

function checkVersion(stored: { version: number } | undefined, { version }: { version: number }, what: string): void {
  if ((stored?.version ?? 0) !== version) throw new StoreConflict("stale", `${what} is at version ${stored?.version ?? 0}, not ${version}`);
}

function checkUnique(values: readonly string[], kind: "name" | "address" | "operation"): void {
  if (new Set(values).size !== values.length) throw new StoreConflict(kind, `the ${kind} is taken`);
}

function replace<V>(target: Map<string, V>, source: ReadonlyMap<string, V>): void {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
