import { z } from "zod";
import { CreatedToken, CreateTokenRequest, Identity, LoginCode, LoginRequest, TokenList } from "../access.ts";
import { json, none, route } from "../route-shape.ts";

export const accessRoutes = {
  createToken: route({
    method: "POST",
    path: "/v1/tokens",
    tag: "access",
    scope: "*",
    summary: "Make a token. The answer alone has it; what is kept is a hash.",
    body: CreateTokenRequest,
    // Its answer has a secret, which is stored nowhere; made again by a retry it has a name that is taken.
    keyed: "none",
    responses: { 201: json(CreatedToken) },
  }),
  listTokens: route({
    method: "GET",
    path: "/v1/tokens",
    tag: "access",
    scope: "*",
    summary: "All tokens, oldest first, expired ones too.",
    responses: { 200: json(TokenList) },
  }),
  revokeToken: route({
    method: "DELETE",
    path: "/v1/tokens/{tid}",
    tag: "access",
    scope: "*",
    params: z.object({
      tid: z
        .string()
        .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "an id or name of a token has lower-case letters, digits, - and _")
        .describe("Id or name of the token."),
    }),
    summary: "Revoke a token at once, and sign out every browser that it signed in.",
    responses: { 204: none },
  }),
  createLoginCode: route({
    method: "POST",
    path: "/v1/login-codes",
    tag: "access",
    scope: "any",
    summary: "A code that signs one browser in as whoever asks for it, once, within 5 minutes.",
    keyed: "none",
    responses: { 201: json(LoginCode) },
  }),
  login: route({
    method: "POST",
    path: "/v1/login",
    tag: "access",
    scope: "public",
    summary: "Sign a browser in by a code or a token: the answer sets a cookie.",
    body: LoginRequest,
    keyed: "none",
    bodyLimitBytes: 4096,
    responses: { 200: json(Identity) },
  }),
  logout: route({
    method: "POST",
    path: "/v1/logout",
    tag: "access",
    scope: "public",
    summary: "Sign the browser out: its cookie is worth nothing any more.",
    keyed: "none",
    responses: { 204: none },
  }),
  whoami: route({
    method: "GET",
    path: "/v1/whoami",
    tag: "access",
    scope: "any",
    summary: "Who calls, and what they may do.",
    responses: { 200: json(Identity) },
  }),
} as const;
