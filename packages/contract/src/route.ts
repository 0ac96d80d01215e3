import type { z } from "zod";
import type { Route } from "./route-shape.ts";
import { accessRoutes } from "./routes/access.ts";
import { eventRoutes } from "./routes/event.ts";
import { fileRoutes } from "./routes/file.ts";
import { imageRoutes } from "./routes/image.ts";
import { interpreterRoutes } from "./routes/interpreter.ts";
import { operationRoutes } from "./routes/operation.ts";
import { portRoutes } from "./routes/port.ts";
import { sandboxRoutes } from "./routes/sandbox.ts";
import { sessionRoutes } from "./routes/session.ts";
import { snapshotRoutes } from "./routes/snapshot.ts";
import { statsRoutes } from "./routes/stats.ts";
import { systemRoutes } from "./routes/system.ts";
import { teamRoutes } from "./routes/team.ts";
import { usageRoutes } from "./routes/usage.ts";
import { wakeRoutes } from "./routes/wake.ts";
import { webhookRoutes } from "./routes/webhook.ts";

export { defaultWaitMs } from "./routes/answer.ts";

export const idempotencyHeader = "Idempotency-Key";
/** Longest key, in characters. */
export const idempotencyKeyLimit = 255;
/** Visible ASCII. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Every call of the API, by the name that its OpenAPI operation has. */
export const routes = {
  ...sandboxRoutes,
  ...operationRoutes,
  ...eventRoutes,
  ...sessionRoutes,
  ...interpreterRoutes,
  ...portRoutes,
  ...fileRoutes,
  ...imageRoutes,
  ...snapshotRoutes,
  ...webhookRoutes,
  ...statsRoutes,
  ...usageRoutes,
  ...systemRoutes,
  ...wakeRoutes,
  ...accessRoutes,
  ...teamRoutes,
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
/** What a call's JSON body is made from; undefined: it has none. */
export type BodyOf<R extends RouteName> = z.input<NonNullable<(typeof routes)[R]["body"]>>;
