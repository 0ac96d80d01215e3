import type { Grant } from "@torpor/contract";

/** What lets somebody in: a token, a browser that was signed in, or a code that signs one in. Of its secret only a hash is kept. */
export interface CredentialRecord {
  readonly id: string;
  readonly version: number;
  readonly kind: "token" | "session" | "code";
  readonly hash: string;
  /** The token that a session or code comes from, and ends with; null: the owner's. */
  readonly tokenId: string | null;
  /** Of the token; no two have the same. */
  readonly name: string;
  /** null: all teams. */
  readonly team: string | null;
  readonly scopes: readonly Grant[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** The part of the store that keeps them. They are changed by commits; with a token go the sessions and codes that come from it. */
export interface CredentialStore {
  findCredential(hash: string): Promise<CredentialRecord | undefined>;
  /** Oldest first; of sessions and codes those of one token, or the owner's. */
  listTokens(): Promise<CredentialRecord[]>;
  listSessions(tokenId: string | null): Promise<CredentialRecord[]>;
}
