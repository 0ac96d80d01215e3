import { z } from "zod";

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
export const Grant = z.enum(grants);
export type Grant = z.infer<typeof Grant>;

/** What a route needs: a scope; `*`, which only everything covers; any token at all; or nothing, for everybody may call it. */
export type Need = Scope | "*" | "any" | "public";

export function covers(granted: readonly Grant[], need: Need): boolean {
  if (need === "any" || need === "public") return true;
  return granted.some((grant) => grant === "*" || grant === need || (grant.endsWith(":*") && need.startsWith(grant.slice(0, -1))));
}

export const TokenName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a name of a token has lower-case letters, digits, - and _");

/** Whose sandboxes one sees. */
export const Team = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a name of a team has lower-case letters, digits, - and _");
export const defaultTeam = "default";

export const Token = z.object({
  id: z.string(),
  name: z.string(),
  /** null: all teams. */
  team: z.string().nullable(),
  scopes: z.array(Grant),
  createdAt: z.iso.datetime(),
  /** null: never. */
  expiresAt: z.iso.datetime().nullable(),
});
export type Token = z.infer<typeof Token>;

export const TokenList = z.object({ tokens: z.array(Token) });

export const CreateTokenRequest = z.strictObject({
  /** Default: a generated one. */
  name: TokenName.optional(),
  /** Default: `default`, or that of who asks. null: all teams, and what concerns the host itself; only those of all teams may ask for it. */
  team: Team.nullable().optional(),
  /** Default: everything. */
  scopes: z.array(Grant).min(1).max(grants.length).optional(),
  /** Default: never. */
  expiresAt: z.iso.datetime().optional(),
});
export type CreateTokenRequest = z.infer<typeof CreateTokenRequest>;

/** The only answer that has the token itself. */
export const CreatedToken = z.object({ token: Token, secret: z.string() });
export type CreatedToken = z.infer<typeof CreatedToken>;

/** Signs one browser in, once. It stands in an address after the #, which browsers send to nobody. */
export const LoginCode = z.object({ code: z.string(), expiresAt: z.iso.datetime() });
export type LoginCode = z.infer<typeof LoginCode>;

const Secret = z.string().min(1).max(200);
export const LoginRequest = z
  .strictObject({ code: Secret.optional(), token: Secret.optional() })
  .refine(({ code, token }) => (code === undefined) !== (token === undefined), "either a code or a token is needed");
export type LoginRequest = z.infer<typeof LoginRequest>;

/** Who calls. */
export const Identity = z.object({
  /** socket: the owner of the node, by its Unix socket. */
  via: z.enum(["socket", "token", "cookie"]),
  /** Of the token, or of the one that a browser was signed in with; null: the owner's. */
  token: Token.pick({ id: true, name: true }).nullable(),
  /** null: all teams. */
  team: z.string().nullable(),
  scopes: z.array(Grant),
  expiresAt: z.iso.datetime().nullable(),
});
export type Identity = z.infer<typeof Identity>;
