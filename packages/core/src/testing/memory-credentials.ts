import type { CredentialRecord, CredentialStore } from "../ports/credential-store.ts";
import { type Change, StoreConflict } from "../ports/store.ts";

/** The part of the in-memory store that keeps credentials. */
export class MemoryCredentials implements CredentialStore {
  readonly #records = new Map<string, CredentialRecord>();

  check({ credentials = [], endedCredentials = [] }: Change): void {
    for (const { id, version } of [...credentials, ...endedCredentials]) {
      const stored = this.#records.get(id)?.version ?? 0;
      if (stored !== version) throw new StoreConflict("stale", `credential ${id} is at version ${stored}, not ${version}`);
    }
    for (const { id, kind, name, tokenId } of credentials) {
      const same = [...this.#records.values()].some((other) => other.kind === "token" && other.name === name && other.id !== id);
      if (kind === "token" && same) throw new StoreConflict("stale", `another token has the name ${name}`);
      if (tokenId !== null && !this.#records.has(tokenId)) throw new StoreConflict("stale", `the token ${tokenId} is gone`);
    }
  }

  apply({ credentials = [], endedCredentials = [] }: Change): void {
    for (const record of credentials) this.#records.set(record.id, structuredClone({ ...record, version: record.version + 1 }));
    for (const { id } of endedCredentials) {
      this.#records.delete(id);
      for (const [other, { tokenId }] of this.#records) if (tokenId === id) this.#records.delete(other);
    }
  }

  async findCredential(hash: string): Promise<CredentialRecord | undefined> {
    return structuredClone([...this.#records.values()].find((record) => record.hash === hash));
  }

  async listTokens(): Promise<CredentialRecord[]> {
    return structuredClone([...this.#records.values()].filter(({ kind }) => kind === "token"));
  }

  async listSessions(tokenId: string | null): Promise<CredentialRecord[]> {
    return structuredClone([...this.#records.values()].filter((record) => record.kind === "session" && record.tokenId === tokenId));
  }

  /** Sessions and codes that have expired; the number of them. */
  prune(now: string): number {
    const over = [...this.#records.values()].filter(({ kind, expiresAt }) => kind !== "token" && expiresAt !== null && expiresAt <= now);
    for (const { id } of over) this.#records.delete(id);
    return over.length;
  }
}
