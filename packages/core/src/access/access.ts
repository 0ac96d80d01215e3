import {
  type CreatedToken,
  type CreateTokenRequest,
  defaultTeam,
  type LoginCode,
  type LoginRequest,
  type Token,
  TorporError,
} from "@torpor/contract";
import { generateName } from "../names.ts";
import type { CredentialRecord } from "../ports/credential-store.ts";
import type { Ports } from "../ports/ports.ts";
import { StoreConflict } from "../ports/store.ts";
import { type Caller, callerOf } from "./caller.ts";
import { newCredential, readSecret } from "./credential.ts";

const codeMs = 5 * 60_000;
const sessionMs = 7 * 24 * 60 * 60_000;
const tokenLimit = 1000;
/** Of one token, or of the owner: the oldest browser is signed out for the newest. */
const sessionLimit = 100;

type World = Pick<Ports, "store" | "ids" | "tokens" | "clock">;

export interface SignedIn {
  readonly caller: Caller;
  /** What the browser is known by. */
  readonly secret: string;
  readonly expiresAt: string;
}

/** Who may call, from elsewhere than the owner's socket. */
export class Access {
  readonly #world: World;
  readonly #listeners = new Set<(ended: (credential: CredentialRecord) => boolean) => void>();

  constructor(world: World) {
    this.#world = world;
  }

  async createToken(caller: Caller, request: CreateTokenRequest): Promise<CreatedToken> {
    const { store, ids } = this.#world;
    const existing = await store.listTokens();
    if (existing.length >= tokenLimit) throw new TorporError("too_many_tokens", `there are ${tokenLimit} tokens already: revoke one first`);
    const id = ids.next("tk");
    const { name = generateName(id), scopes = ["*"], expiresAt = null } = request;
    if (existing.some((token) => token.name === name)) throw nameTaken(name);
    if (expiresAt !== null && expiresAt <= this.#now()) {
      throw new TorporError("invalid_request", `the token would expire at ${expiresAt}, which is over: it is ${this.#now()}`);
    }
    const team = teamFor(caller, request.team);
    const { record, secret } = newCredential(this.#world, { id, kind: "token", tokenId: null, name, team, scopes, expiresAt });
    await store.commit({ credentials: [record] }).catch((error: unknown) => {
      throw error instanceof StoreConflict ? nameTaken(name) : error;
    });
    return { token: viewOf(record), secret };
  }

  /** Those of the caller's team, oldest first. */
  async tokens(caller: Caller): Promise<Token[]> {
    const all = await this.#world.store.listTokens();
    return all.filter(({ team }) => caller.team === null || team === caller.team).map(viewOf);
  }

  /** What it let in is let out at once. */
  async revokeToken(caller: Caller, idOrName: string): Promise<void> {
    const all = await this.#world.store.listTokens();
    const found = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
    if (found === undefined || (caller.team !== null && found.team !== caller.team)) {
      throw new TorporError("token_not_found", `there is no token ${idOrName}`, { hint: "torpor token list shows what there is" });
    }
    await this.#end([found]);
    this.#tell(({ id, tokenId }) => id === found.id || tokenId === found.id);
  }

  /** Signs in one browser as the caller. */
  async createLoginCode(caller: Caller): Promise<LoginCode> {
    const expiresAt = this.#earliest(codeMs, caller.expiresAt);
    const { record, secret } = newCredential(this.#world, { ...originOf(caller), id: this.#world.ids.next("lc"), kind: "code", expiresAt });
    await this.#world.store.commit({ credentials: [record] });
    return { code: secret, expiresAt };
  }

  /** By a code, which counts once, or by a token. */
  async login({ code, token }: LoginRequest): Promise<SignedIn> {
    const given = code === undefined ? await this.#find("token", token ?? "") : await this.#find("code", code);
    const caller = callerOf(given);
    const limit = given.kind === "token" ? given.expiresAt : await this.#expiryOf(given.tokenId);
    const expiresAt = this.#earliest(sessionMs, limit);
    const { record, secret } = newCredential(this.#world, {
      ...originOf(caller),
      id: this.#world.ids.next("lg"),
      kind: "session",
      expiresAt,
    });
    const others = await this.#world.store.listSessions(record.tokenId);
    const oldest = others.slice(0, Math.max(0, others.length + 1 - sessionLimit));
    try {
      await this.#world.store.commit({ credentials: [record], endedCredentials: given.kind === "code" ? [given] : [] });
    } catch (error) {
      // Somebody else used the code, or the token was revoked, between the look and the commit.
      throw error instanceof StoreConflict ? unknown(given.kind) : error;
    }
    await this.#end(oldest);
    return { caller: callerOf(record), secret, expiresAt };
  }

  /** The session is worth nothing any more; one that is not known is left. */
  async logout(secret: string): Promise<void> {
    const found = await this.#find("session", secret).catch(() => undefined);
    if (found === undefined) return;
    await this.#end([found]);
    this.#tell(({ id }) => id === found.id);
  }

  /** Whose secret it is. Refuses one that is not known, or has expired. */
  async identify(kind: "token" | "session", secret: string): Promise<Caller> {
    return callerOf(await this.#find(kind, secret));
  }

  /** Called when credentials end before their time, with what tells which. */
  onEnd(listener: (ended: (credential: CredentialRecord) => boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** By the hash, so how long it takes tells nothing about a secret. */
  async #find(kind: CredentialRecord["kind"], secret: string): Promise<CredentialRecord> {
    const hash = readSecret(this.#world, kind, secret);
    const found = hash === undefined ? undefined : await this.#world.store.findCredential(hash);
    if (found === undefined || found.kind !== kind) throw unknown(kind);
    if (found.expiresAt !== null && found.expiresAt <= this.#now()) throw expired(found, found.expiresAt);
    return found;
  }

  async #expiryOf(tokenId: string | null): Promise<string | null> {
    if (tokenId === null) return null;
    return (await this.#world.store.listTokens()).find(({ id }) => id === tokenId)?.expiresAt ?? null;
  }

  /** One that has ended meanwhile is as it should be. */
  async #end(credentials: readonly CredentialRecord[]): Promise<void> {
    for (const credential of credentials) {
      await this.#world.store.commit({ endedCredentials: [credential] }).catch((error: unknown) => {
        if (!(error instanceof StoreConflict)) throw error;
      });
    }
  }

  #tell(ended: (credential: CredentialRecord) => boolean): void {
    for (const listener of this.#listeners) listener(ended);
  }

  #now(): string {
    return this.#world.clock.now().toISOString();
  }

  #earliest(ms: number, limit: string | null): string {
    const own = new Date(this.#world.clock.now().getTime() + ms).toISOString();
    return limit !== null && limit < own ? limit : own;
  }
}

function originOf({ token, team, scopes }: Caller): Pick<CredentialRecord, "tokenId" | "name" | "team" | "scopes"> {
  return { tokenId: token?.id ?? null, name: token?.name ?? "owner", team, scopes };
}

function teamFor(caller: Caller, asked: string | null | undefined): string | null {
  if (caller.team === null) return asked === undefined ? defaultTeam : asked;
  if (asked === undefined || asked === caller.team) return caller.team;
  const others = asked === null ? "all teams" : `the team ${asked}`;
  throw new TorporError("forbidden", `who is of the team ${caller.team} makes tokens of that team, not of ${others}`, {
    hint: "ask the owner of the node for one",
  });
}

function viewOf({ id, name, team, scopes, createdAt, expiresAt }: CredentialRecord): Token {
  return { id, name, team, scopes: [...scopes], createdAt, expiresAt };
}

function nameTaken(name: string): TorporError {
  return new TorporError("name_taken", `another token has the name ${name}`, { hint: "choose another name, or revoke that one first" });
}

const again: Record<CredentialRecord["kind"], { readonly thing: string; readonly hint: string }> = {
  token: { thing: "the token", hint: "torpor token create makes one, on the daemon's host" },
  session: { thing: "the browser's session", hint: "sign in again: torpor open prints a link" },
  code: { thing: "the link", hint: "a link signs in once, within 5 minutes: torpor open prints another" },
};

function unknown(kind: CredentialRecord["kind"]): TorporError {
  const { thing, hint } = again[kind];
  const causes = { token: "it was revoked, or is mistyped", session: "it was ended", code: "it was used already, or has expired" };
  return new TorporError("unauthorized", `${thing} is not known: ${causes[kind]}`, { hint });
}

function expired({ kind, name }: CredentialRecord, at: string): TorporError {
  const { thing, hint } = again[kind];
  return new TorporError("unauthorized", `${thing}${kind === "token" ? ` ${name}` : ""} has expired, at ${at}`, { hint });
}
