import { z } from "zod";
import type { Need } from "./scope.ts";

/** What a body or an answer is made of: JSON of a schema, bytes that are streamed, lines of JSON, or nothing. */
export type Content =
  | { readonly kind: "json"; readonly schema: z.ZodType }
  | { readonly kind: "stream"; readonly mediaType: string }
  /** A stream of `lines` when asked for by `Accept: application/x-ndjson`, else one `schema`. */
  | { readonly kind: "lines"; readonly schema: z.ZodType; readonly lines: z.ZodType }
  /** Server-sent events when asked for by `Accept: text/event-stream`, each with one `event` as JSON, else one `schema` where there is one. */
  | { readonly kind: "events"; readonly schema?: z.ZodType; readonly event: z.ZodType }
  | { readonly kind: "text" }
  /** The connection becomes a WebSocket; see `frameKinds`. */
  | { readonly kind: "socket" }
  | { readonly kind: "none" };

export type Tag =
  | "sandboxes"
  | "operations"
  | "sessions"
  | "ports"
  | "files"
  | "images"
  | "snapshots"
  | "webhooks"
  | "wakes"
  | "access"
  | "system";

/** One line of the API: what the server registers, the clients call and the OpenAPI document tells. */
export interface Route<P extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly tag: Tag;
  /** What a call at an address of TCP needs. */
  readonly scope: Need;
  /** It concerns the host itself: only for callers of all teams. */
  readonly host?: true;
  readonly summary: string;
  readonly params: P;
  readonly query: Q;
  /** JSON body; a body of optional fields only may be left out. */
  readonly body?: B;
  /** A streamed body in place of JSON. */
  readonly upload?: string;
  /** Largest JSON body in bytes. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  readonly responses: Readonly<Record<number, Content>>;
  /**
   * What an `Idempotency-Key` does: with the same key and request the call answers with the same operation, session or record (`begun`), or with the
   * answer that was stored for it (`answered`). Every call that changes something takes one but those with `none`. Default by the method.
   */
  readonly keyed: "begun" | "answered" | "none";
  /** Error codes it may answer with, beside `common` ones. */
  readonly errors?: readonly string[];
}

const nothing = z.object({});
export type Nothing = typeof nothing;

type Draft<P, Q, B> = Omit<Route, "params" | "query" | "body" | "keyed"> & {
  readonly keyed?: Route["keyed"];
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
};

/** Fills in what a route does not have, keeping the types of its schemas. */
export function route<P extends z.ZodType = Nothing, Q extends z.ZodType = Nothing, B extends z.ZodType = z.ZodUndefined>(
  draft: Draft<P, Q, B>,
): Route<P, Q, B> {
  const keyed = draft.method === "GET" ? "none" : "answered";
  return { keyed, ...draft, params: draft.params ?? nothing, query: draft.query ?? z.strictObject({}) } as unknown as Route<P, Q, B>;
}

export const json = (schema: z.ZodType): Content => ({ kind: "json", schema });
export const stream = (mediaType: string): Content => ({ kind: "stream", mediaType });
export const none: Content = { kind: "none" };

/** A schema over query text whose OpenAPI type is another: text is all that a query has. */
export const queryText = <T extends z.ZodType>(schema: T, as: Record<string, unknown>) => schema.meta({ as });

export const queryInteger = (maximum: number) =>
  queryText(
    z
      .string()
      .regex(/^\d{1,15}$/, "a whole number, 0 or more, is needed")
      .transform(Number)
      .refine((value) => value <= maximum, `at most ${maximum} is allowed`),
    { type: "integer", minimum: 0, maximum },
  );

export const queryBoolean = queryText(
  z.enum(["true", "false"], "true or false is needed").transform((text) => text === "true"),
  { type: "boolean" },
);

/** Several of one kind in one text, with commas between them. */
export const queryList = <T extends string>(item: z.ZodType<T, T>, maximum: number) =>
  queryText(
    z
      .string()
      .transform((text) => text.split(","))
      .pipe(z.array(item).max(maximum)),
    { type: "string" },
  );
/** Permission bits in octal, as chmod has them. */
export const queryMode = queryText(
  z
    .string()
    .regex(/^[0-7]{1,4}$/, "permission bits in octal are needed, such as 644")
    .transform((text) => Number.parseInt(text, 8)),
  { type: "string", pattern: "^[0-7]{1,4}$" },
);

/** `{id}` of a sandbox: its id or its name. */
export const SandboxParams = z.object({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "an id or name of a sandbox has lower-case letters, digits, - and _")
    .describe("Id or name of the sandbox."),
});
/** `{nid}` of a snapshot: its id or its name. */
export const SnapshotParams = z.object({
  nid: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, "an id or name of a snapshot has lower-case letters, digits, - and _")
    .describe("Id or name of the snapshot."),
});
/** The id of an operation, session, webhook or wake: a prefix and 16 characters of a-z2-7. */
export const idOf = (prefix: "op" | "se" | "wh" | "wk") =>
  z.string().regex(new RegExp(`^${prefix}_[a-z2-7]{16}$`), `an id looks like ${prefix}_ and 16 characters of a-z2-7`);
