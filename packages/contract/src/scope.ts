/** What a token may allow. `port`, `secret:*` and `policy:*` are for ports, secrets and network policies. */
export const scopes = [
  "sandbox:read",
  "sandbox:write",
  "sandbox:delete",
  "exec",
  "port",
  "snapshot",
  "image",
  "webhook",
  "secret:read",
  "secret:write",
  "policy:read",
  "policy:write",
  "metrics",
] as const;
export type Scope = (typeof scopes)[number];

/** A scope, all of a kind, or everything: tokens and what happens on the host itself too. */
export const grants = [...scopes, "sandbox:*", "secret:*", "policy:*", "*"] as const;
export type Grant = (typeof grants)[number];

/** What a route needs: a scope; `*`, which only everything covers; any token at all; or nothing, for everybody may call it. */
export type Need = Scope | "*" | "any" | "public";

export function covers(granted: readonly Grant[], need: Need): boolean {
  if (need === "any" || need === "public") return true;
  return granted.some((grant) => grant === "*" || grant === need || (grant.endsWith(":*") && need.startsWith(grant.slice(0, -1))));
}
