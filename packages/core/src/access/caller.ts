import { covers, type Identity, type Need, TorporError } from "@torpor/contract";
import type { CredentialRecord } from "../ports/credential-store.ts";

/** Who calls: the owner at the socket, or whoever has a credential. */
export interface Caller extends Identity {
  /** undefined: the owner at the socket. */
  readonly credential: CredentialRecord | undefined;
}

export const owner: Caller = { via: "socket", token: null, team: null, scopes: ["*"], expiresAt: null, credential: undefined };

export function callerOf(credential: CredentialRecord): Caller {
  const { kind, tokenId, id, name, team, scopes, expiresAt } = credential;
  const token = kind === "token" ? { id, name } : tokenId === null ? null : { id: tokenId, name };
  return { via: kind === "token" ? "token" : "cookie", token, team, scopes: [...scopes], expiresAt, credential };
}

/** Refuses what the caller's scopes do not cover. `doing` is what it was for. */
export function requireScope(caller: Caller, need: Need, doing: string): void {
  if (covers(caller.scopes, need)) return;
  throw new TorporError(
    "forbidden",
    `${describe(caller)} has not the scope ${need}, which ${doing} needs: it has ${caller.scopes.join(", ")}`,
    {
      hint: `make a token that has it: torpor token create --scope ${need === "*" ? "'*'" : need}`,
      details: { scope: need, scopes: caller.scopes },
    },
  );
}

/** Refuses what concerns the host itself, to a caller who is of one team. */
export function requireAllTeams(caller: Caller, doing: string): void {
  if (caller.team === null) return;
  throw new TorporError("forbidden", `${describe(caller)} is of the team ${caller.team}: ${doing} is for those of all teams`, {
    hint: "use the daemon's socket, or a token made with torpor token create --all-teams",
  });
}

function describe({ via, token }: Caller): string {
  return via === "token" ? `the token ${token?.name}` : token === null ? "the browser's session" : `the session of the token ${token.name}`;
}
