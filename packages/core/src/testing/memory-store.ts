import type { Event } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import { ancestorOf } from "../ancestors.ts";
import type { DeliveryCount, DeliveryRecord, WebhookRecord } from "../ports/outbox.ts";
import type { Share } from "../ports/share.ts";
import {
  type AncestorRecord,
  type Change,
  type KeyRecord,
  type OperationRecord,
  type Prune,
  type SandboxRecord,
  type SnapshotRecord,
  type Store,
  StoreConflict,
} from "../ports/store.ts";
import { checkRoom, heldBy, heldByTeam } from "./memory-checks.ts";
import { MemoryCredentials } from "./memory-credentials.ts";
import { MemoryOutbox } from "./memory-outbox.ts";
import { MemorySupervised } from "./memory-supervised.ts";
import { MemoryTeams } from "./memory-teams.ts";
import { MemoryUsage } from "./memory-usage.ts";
import { MemoryWakes } from "./memory-wakes.ts";

/** The store's contract in the smallest form: what is committed is a copy, so nothing is changed behind its back. */
export class MemoryStore implements Store {
  readonly #sandboxes = new Map<string, SandboxRecord>();
  readonly #ancestors = new Map<string, AncestorRecord>();
  readonly #operations = new Map<string, OperationRecord>();
  readonly #running = new Set<string>();
  readonly #keys = new Map<string, KeyRecord>();
  readonly #outbox = new MemoryOutbox();
  /** By sandbox, and of all under the empty text. */
  readonly #lost = new Map<string, number>();
  readonly #snapshots = new Map<string, SnapshotRecord>();
  readonly #wakes = new MemoryWakes();
  readonly #credentials = new MemoryCredentials();
  readonly #supervised = new MemorySupervised();
  readonly #usage = new MemoryUsage();
  readonly listUsage = () => this.#usage.list();
  readonly listTokens = () => this.#credentials.listTokens();
  readonly findCredential = (hash: string) => this.#credentials.findCredential(hash);
  readonly findWake = (id: string) => this.#wakes.findWake(id);
  readonly countWakeups = () => this.#wakes.countWakeups();
  readonly #teams = new MemoryTeams();
  readonly listTeams = async () => this.#teams.list();
  readonly prices = async () => this.#teams.prices;
  readonly heldByTeam = async (team: string) => heldByTeam([...this.#sandboxes.values()], team);
  #events: Event[] = [];
  #seq = 0;

  async commit(change: Change): Promise<void> {
    const {
      sandboxes = [],
      operations = [],
      events = [],
      removed = [],
      keys = [],
      snapshots = [],
      removedSnapshots = [],
      within,
      ...outbox
    } = change;
    this.#outbox.check(outbox);
    this.#credentials.check(change);
    for (const record of [...sandboxes, ...removed]) checkVersion(this.#sandboxes.get(record.id), record, `sandbox ${record.id}`);
    for (const record of operations) checkVersion(this.#operations.get(record.id), record, `operation ${record.id}`);
    for (const record of [...snapshots, ...removedSnapshots]) checkVersion(this.#snapshots.get(record.id), record, `snapshot ${record.id}`);
    for (const record of keys) this.#checkKey(record);
    checkDistinct(
      after(this.#snapshots, snapshots, removedSnapshots).map(({ name }) => name),
      "snapshot",
    );
    const sandboxIds = new Set([...this.#sandboxes.keys(), ...sandboxes.map(({ id }) => id)]);
    this.#wakes.check(change, sandboxIds);
    this.#supervised.check(change, sandboxIds);
    this.#checkUnique(sandboxes, operations, removed);
    this.#teams.check(change);
    if (within !== undefined) checkRoom(within, this.#teams.list(), sandboxes, after(this.#sandboxes, sandboxes, removed));
    for (const record of removed) {
      this.#sandboxes.delete(record.id);
      this.#ancestors.set(record.id, ancestorOf(record));
    }
    this.#wakes.apply(change);
    this.#credentials.apply(change);
    this.#supervised.apply(change);
    this.#usage.apply(change);
    this.#teams.apply(change);
    for (const record of sandboxes) this.#sandboxes.set(record.id, copy({ ...record, version: record.version + 1 }));
    if (removed.length > 0) this.#forgetAncestors();
    for (const record of operations) {
      this.#operations.set(record.id, copy({ ...record, version: record.version + 1 }));
      if (record.status === "running") this.#running.add(record.id);
      else this.#running.delete(record.id);
    }
    for (const { id } of removedSnapshots) this.#snapshots.delete(id);
    for (const record of snapshots) this.#snapshots.set(record.id, copy({ ...record, version: record.version + 1 }));
    this.#outbox.apply(outbox);
    for (const event of events) this.#addEvent({ ...event, seq: ++this.#seq }, removed);
    for (const record of keys) this.#keys.set(`${record.scope}\n${record.key}`, copy(record));
  }

  async findSandbox(idOrName: string): Promise<SandboxRecord | undefined> {
    const found = this.#sandboxes.get(idOrName) ?? [...this.#sandboxes.values()].find(({ name }) => name === idOrName);
    return found && copy(found);
  }

  async listSandboxes(): Promise<SandboxRecord[]> {
    return [...this.#sandboxes.values()].sort((a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id)).map(copy);
  }

  async held(): Promise<Share> {
    return heldBy([...this.#sandboxes.values()]);
  }

  async listAncestors(): Promise<AncestorRecord[]> {
    return [...this.#ancestors.values()].map(copy);
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
    return [...this.#running].flatMap((id) => this.#operations.get(id) ?? []).map(copy);
  }

  async listEvents({ sandboxId, after = 0, limit = 1000 }: { sandboxId?: string; after?: number; limit?: number }): Promise<Event[]> {
    const wanted = this.#events.filter((event) => event.seq > after && (sandboxId === undefined || event.sandboxId === sandboxId));
    return wanted.slice(0, limit).map(copy);
  }

  async eventBounds(sandboxId = ""): Promise<{ lost: number; newest: number }> {
    return { lost: this.#lost.get(sandboxId) ?? 0, newest: this.#seq };
  }

  async findWebhook(id: string): Promise<WebhookRecord | undefined> {
    return this.#outbox.find(id);
  }

  async listWebhooks(): Promise<WebhookRecord[]> {
    return this.#outbox.list();
  }

  async firstDeliveries(filter: Parameters<Store["firstDeliveries"]>[0]): Promise<DeliveryRecord[]> {
    return this.#outbox.first(filter);
  }

  async listDeliveries(filter: Parameters<Store["listDeliveries"]>[0]): Promise<DeliveryRecord[]> {
    return this.#outbox.deliveries(filter);
  }

  async countDeliveries(): Promise<readonly DeliveryCount[]> {
    return this.#outbox.counts();
  }

  async findSnapshot(idOrName: string): Promise<SnapshotRecord | undefined> {
    const found = this.#snapshots.get(idOrName) ?? [...this.#snapshots.values()].find(({ name }) => name === idOrName);
    return found && copy(found);
  }

  async listSnapshots({ expiredAt }: { expiredAt?: string } = {}): Promise<SnapshotRecord[]> {
    const due = ({ pinned, expiresAt }: SnapshotRecord) => !pinned && expiresAt !== null && expiresAt <= (expiredAt ?? "");
    const wanted = [...this.#snapshots.values()].filter((record) => expiredAt === undefined || due(record));
    return wanted.sort((a, b) => order(a.createdAt, b.createdAt) || order(a.id, b.id)).map(copy);
  }

  async findKey(scope: string, key: string, now: string): Promise<KeyRecord | undefined> {
    const found = this.#keys.get(`${scope}\n${key}`);
    return found !== undefined && found.expiresAt > now ? copy(found) : undefined;
  }

  async prune(retention: Prune): Promise<number> {
    const { now, before, perSandbox } = retention;
    const count = () => this.#operations.size + this.#events.length + this.#keys.size;
    const had = count();
    for (const [place, { expiresAt }] of this.#keys) if (expiresAt <= now) this.#keys.delete(place);
    const answered = new Set([...this.#keys.values()].map(({ operationId }) => operationId));
    const rank = new Map<string, number>();
    for (const { id, sandboxId, status, endedAt } of [...this.#operations.values()].reverse()) {
      const place = (rank.get(sandboxId) ?? 0) + 1;
      rank.set(sandboxId, place);
      if (status === "running" || answered.has(id)) continue;
      if ((endedAt ?? "") < before || place > perSandbox) this.#operations.delete(id);
    }
    rank.clear();
    const kept = [...this.#events].reverse().filter(({ sandboxId, at }) => {
      const place = (rank.get(sandboxId) ?? 0) + 1;
      rank.set(sandboxId, place);
      return at >= before && place <= perSandbox;
    });
    for (const { seq, sandboxId } of this.#events.filter((event) => !kept.includes(event)))
      for (const whose of ["", sandboxId]) this.#lost.set(whose, Math.max(seq, this.#lost.get(whose) ?? 0));
    this.#events = kept.reverse();
    return had - count() + this.#outbox.prune(retention) + this.#credentials.prune(now);
  }

  listSupervised(sandboxId?: string) {
    return this.#supervised.listSupervised(sandboxId);
  }

  findSupervised(sandboxId: string, id: string) {
    return this.#supervised.findSupervised(sandboxId, id);
  }

  listWakes(sandboxId?: string) {
    return this.#wakes.listWakes(sandboxId);
  }

  findWakeByToken(tokenHash: string) {
    return this.#wakes.findWakeByToken(tokenHash);
  }

  nextWakeup(sandboxId: string) {
    return this.#wakes.nextWakeup(sandboxId);
  }

  listSessions(tokenId: string | null) {
    return this.#credentials.listSessions(tokenId);
  }

  async close(): Promise<void> {}

  #addEvent(event: Event, removed: readonly SandboxRecord[]): void {
    this.#events.push(copy(event));
    const sandbox = this.#sandboxes.get(event.sandboxId) ?? removed.find(({ id }) => id === event.sandboxId);
    this.#outbox.add(event, { labels: sandbox?.labels ?? {}, team: sandbox && teamOf(sandbox) });
  }

  #forgetAncestors(): void {
    for (let had = -1; had !== this.#ancestors.size; ) {
      had = this.#ancestors.size;
      const parents = new Set([...this.#sandboxes.values(), ...this.#ancestors.values()].map(({ parentId }) => parentId));
      for (const id of this.#ancestors.keys()) if (!parents.has(id)) this.#ancestors.delete(id);
    }
  }

  #checkUnique(sandboxes: readonly SandboxRecord[], operations: readonly OperationRecord[], removed: readonly SandboxRecord[]): void {
    const next = after(this.#sandboxes, sandboxes, removed);
    checkDistinct(
      next.map(({ name }) => name),
      "name",
    );
    checkDistinct(
      next.flatMap(({ address }) => (address === null ? [] : [address])),
      "address",
    );
    const written = new Set(operations.map(({ id }) => id));
    const running = [...this.#running].filter((id) => !written.has(id)).flatMap((id) => this.#operations.get(id) ?? []);
    checkDistinct(
      [...running, ...operations.filter(({ status }) => status === "running")].map(({ sandboxId }) => sandboxId),
      "operation",
    );
  }

  #checkKey({ scope, key, createdAt }: KeyRecord): void {
    const present = this.#keys.get(`${scope}\n${key}`);
    if (present !== undefined && present.expiresAt > createdAt) throw new StoreConflict("key", `the key ${key} is taken`);
  }
}

/** What there is once the change is made. */
function after<T extends { readonly id: string }>(present: ReadonlyMap<string, T>, changed: readonly T[], removed: readonly T[]): T[] {
  const gone = new Set([...changed, ...removed].map(({ id }) => id));
  return [...[...present.values()].filter(({ id }) => !gone.has(id)), ...changed];
}

function checkVersion(stored: { version: number } | undefined, { version }: { version: number }, what: string): void {
  if ((stored?.version ?? 0) !== version) throw new StoreConflict("stale", `${what} is at version ${stored?.version ?? 0}, not ${version}`);
}

function checkDistinct(values: readonly string[], kind: "name" | "snapshot" | "address" | "operation"): void {
  if (new Set(values).size !== values.length) throw new StoreConflict(kind, `the ${kind} is taken`);
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
