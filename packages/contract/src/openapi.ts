import { z } from "zod";
import { CreatedToken, CreateTokenRequest, Identity, LoginCode, LoginRequest, Token } from "./access.ts";
import { Difference } from "./difference.ts";
import { type ErrorCode, errorCatalogue } from "./error.ts";
import { ErrorBody } from "./error-body.ts";
import { Event, EventPage } from "./event.ts";
import { Entry } from "./file.ts";
import { Image, ImageProgress } from "./image.ts";
import { Capabilities, Info } from "./info.ts";
import { Operation, OperationAnswer } from "./operation.ts";
import { ReachablePort } from "./port.ts";
import { idempotencyHeader, idempotencyKeyLimit, idempotencyKeyPattern, routes } from "./route.ts";
import type { Content, Route } from "./route-shape.ts";
import { CreateSandboxRequest, ForkRequest, PauseRequest, ResumeRequest, Sandbox, StopRequest, UpdateSandboxRequest } from "./sandbox.ts";
import { ExecRequest, ExecResult, SessionEnd, SessionOutput, StartSessionRequest } from "./session.ts";
import { CreateSnapshotRequest, RebaseRequest, RestoreRequest, Snapshot, UpdateSnapshotRequest } from "./snapshot.ts";
import { NodeStats, SandboxStats } from "./stats.ts";
import { BeginSessionRequest, Session, Supervision } from "./supervision.ts";
import { Prices, SetPricesRequest, SetTeamLimitsRequest, TeamInfo, TopUpRequest } from "./team.ts";
import { RefreshRequest } from "./timing.ts";
import { SandboxUsage } from "./usage.ts";
import { CreatedWake, CreateWakeRequest, Wake } from "./wake.ts";
import { CreateWebhookRequest, Delivery, Webhook, WebhookTest } from "./webhook.ts";

type Json = Record<string, unknown>;

/** Schemas with a name of their own in the document; all others are written out where they are used. */
const named = {
  CreatedToken,
  CreateTokenRequest,
  Identity,
  LoginCode,
  LoginRequest,
  Token,
  Prices,
  SetPricesRequest,
  SetTeamLimitsRequest,
  TeamInfo,
  TopUpRequest,
  SandboxUsage,
  BeginSessionRequest,
  Capabilities,
  CreatedWake,
  CreateSandboxRequest,
  CreateSnapshotRequest,
  CreateWebhookRequest,
  Delivery,
  Difference,
  CreateWakeRequest,
  Entry,
  ErrorBody,
  Event,
  EventPage,
  ExecRequest,
  ExecResult,
  ForkRequest,
  Image,
  ImageProgress,
  Info,
  NodeStats,
  Operation,
  OperationAnswer,
  PauseRequest,
  ReachablePort,
  RebaseRequest,
  RestoreRequest,
  RefreshRequest,
  ResumeRequest,
  Sandbox,
  SandboxStats,
  Session,
  SessionEnd,
  SessionOutput,
  Snapshot,
  StartSessionRequest,
  StopRequest,
  Supervision,
  UpdateSnapshotRequest,
  Webhook,
  WebhookTest,
  UpdateSandboxRequest,
  Wake,
};

/** The OpenAPI 3.1 document of the route table. */
export function buildOpenApi(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const [operationId, route] of Object.entries<Route>(routes)) {
    // A call and a WebSocket may share a path, never a method.
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(operationId, route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Torpor",
      version,
      description: "Sandboxes that pause, resume and fork with their memory.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    paths,
    components: { schemas: namedSchemas(), securitySchemes },
  };
}

/** The error catalogue as data: what api/errors.json holds. */
export function buildErrors(): Json {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  return Object.fromEntries(codes.sort().map((code) => [code, { ...errorCatalogue[code], docs: `docs/reference/errors.md#${code}` }]));
}

function describeRoute(operationId: string, route: Route): Json {
  const parameters = [
    ...parametersOf("path", route.params),
    ...parametersOf("query", route.query),
    ...(route.keyed === "none" ? [] : [idempotencyParameter]),
  ];
  const body = bodyOf(route);
  const responses: Json = {};
  for (const [status, content] of Object.entries(route.responses)) responses[status] = responseOf(route, content);
  responses.default = {
    description: "A refusal or failure; its code is one of the catalogue's.",
    content: { "application/json": { schema: schemaOf(ErrorBody) } },
  };
  const security = securityOf(route);
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    security,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...body,
    responses,
  };
}

const securitySchemes: Json = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "A token, as torpor token create makes it. At the node's own Unix socket none is needed.",
  },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: "torpor_{instance}",
    description:
      "Of a browser that was signed in by POST /v1/login. What changes something, and every WebSocket, needs an Origin of this server too.",
  },
};

/** One of these; the scope that is needed is told as a role. */
function securityOf({ scope }: Route): Json[] {
  if (scope === "public") return [];
  const roles = scope === "any" ? [] : [scope];
  return [{ token: roles }, { cookie: roles }];
}

const idempotencyParameter: Json = {
  name: idempotencyHeader,
  in: "header",
  required: false,
  description:
    "With the same key and request the call is done once and answers the same, for 24 hours; with another request it is refused.",
  schema: { type: "string", minLength: 1, maxLength: idempotencyKeyLimit, pattern: idempotencyKeyPattern.source },
};

function parametersOf(place: "path" | "query", schema: z.ZodType): Json[] {
  const object = schemaOf(schema) as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, property]) => {
    const { as, description, ...plain } = property;
    return {
      name,
      in: place,
      required: place === "path" || (object.required ?? []).includes(name),
      ...(description === undefined ? {} : { description }),
      schema: as ?? plain,
    };
  });
}

function bodyOf(route: Route): Json {
  if (route.upload !== undefined)
    return { requestBody: { required: true, content: { [route.upload]: { schema: { type: "string", format: "binary" } } } } };
  if (route.body === undefined) return {};
  return {
    requestBody: { required: !route.body.safeParse({}).success, content: { "application/json": { schema: schemaOf(route.body) } } },
  };
}

const byKind: { [K in Content["kind"]]: (content: Extract<Content, { kind: K }>) => Json | undefined } = {
  json: (content) => ({ "application/json": { schema: schemaOf(content.schema) } }),
  stream: (content) => ({ [content.mediaType]: { schema: { type: "string", format: "binary" } } }),
  lines: (content) => ({
    "application/json": { schema: schemaOf(content.schema) },
    "application/x-ndjson": { schema: schemaOf(content.lines) },
  }),
  events: (content) => ({
    ...(content.schema === undefined ? {} : { "application/json": { schema: schemaOf(content.schema) } }),
    "text/event-stream": { schema: schemaOf(content.event) },
  }),
  text: () => ({ "text/plain": { schema: { type: "string" } } }),
  socket: () => undefined,
  none: () => undefined,
};

function responseOf(route: Route, content: Content): Json {
  const body = (byKind[content.kind] as (content: Content) => Json | undefined)(content);
  return {
    description: content.kind === "socket" ? "The connection is a WebSocket now." : route.summary,
    ...(body === undefined ? {} : { content: body }),
  };
}

function schemaOf(schema: z.ZodType): Json {
  const { id } = registry().get(schema) ?? {};
  if (id !== undefined) return { $ref: reference(id) };
  // A registry that holds the named schemas makes the references inside this one.
  const holder = registry();
  holder.add(schema, { id: "_" });
  return strip(schemasOf(holder)._ ?? {});
}

function namedSchemas(): Json {
  const schemas = schemasOf(registry());
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, strip(schema)]));
}

function registry() {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  return registry;
}

function schemasOf(registry: z.core.$ZodRegistry<{ id: string }>): Record<string, Json> {
  // "input": what a client may send; an answer may have more fields than it names, so that one can be added.
  const { schemas } = z.toJSONSchema(registry, { uri: reference, io: "input", target: "draft-2020-12" });
  return schemas as Record<string, Json>;
}

const reference = (id: string) => `#/components/schemas/${id}`;

function strip({ $schema: _schema, $id: _id, ...rest }: Json): Json {
  return rest;
}
