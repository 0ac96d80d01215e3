import { z } from "zod";
import { grants } from "./scope.ts";

const AnyGrant = z.enum(grants);

export const TokenName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a name of a token has lower-case letters, digits, - and _");

/** Whose sandboxes one sees. */
export const Team = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "a name of a team has lower-case letters, digits, - and _");
export const defaultTeam = "default";

export const Token = z.object({
  id: z.string(),
  name: z.string(),
  /** null: all teams. */
  team: z.string().nullable(),
  scopes: z.array(AnyGrant),
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
  scopes: z.array(AnyGrant).min(1).max(grants.length).optional(),
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
  scopes: z.array(AnyGrant),
  expiresAt: z.iso.datetime().nullable(),
});
export type Identity = z.infer<typeof Identity>;
