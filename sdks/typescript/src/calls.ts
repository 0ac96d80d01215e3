import type { RouteName } from "@torpor/contract";

/**
 * Method and path of each route. The contract's table has them too, with schemas that would bring zod, 50 ms of every
 * start; a test holds both to each other.
 */
export const calls = {
  createSandbox: ["POST", "/v1/sandboxes"],
  listSandboxes: ["GET", "/v1/sandboxes"],
  getSandbox: ["GET", "/v1/sandboxes/{id}"],
  updateSandbox: ["PATCH", "/v1/sandboxes/{id}"],
  refreshSandbox: ["POST", "/v1/sandboxes/{id}/refresh"],
  removeSandbox: ["DELETE", "/v1/sandboxes/{id}"],
  pauseSandbox: ["POST", "/v1/sandboxes/{id}/pause"],
  resumeSandbox: ["POST", "/v1/sandboxes/{id}/resume"],
  stopSandbox: ["POST", "/v1/sandboxes/{id}/stop"],
  startSandbox: ["POST", "/v1/sandboxes/{id}/start"],
  forkSandbox: ["POST", "/v1/sandboxes/{id}/fork"],
  tree: ["GET", "/v1/tree"],
  diffSandbox: ["GET", "/v1/sandboxes/{id}/diff"],
  sandboxLogs: ["GET", "/v1/sandboxes/{id}/logs"],
  getOperation: ["GET", "/v1/operations/{oid}"],
  cancelOperation: ["POST", "/v1/operations/{oid}/cancel"],
  listOperations: ["GET", "/v1/sandboxes/{id}/operations"],
  listEvents: ["GET", "/v1/sandboxes/{id}/events"],
  events: ["GET", "/v1/events"],
  exec: ["POST", "/v1/sandboxes/{id}/exec"],
  execSocket: ["GET", "/v1/sandboxes/{id}/exec"],
  startSession: ["POST", "/v1/sandboxes/{id}/sessions"],
  listSessions: ["GET", "/v1/sandboxes/{id}/sessions"],
  getSession: ["GET", "/v1/sandboxes/{id}/sessions/{sid}"],
  removeSession: ["DELETE", "/v1/sandboxes/{id}/sessions/{sid}"],
  signalSession: ["POST", "/v1/sandboxes/{id}/sessions/{sid}/signal"],
  resizeSession: ["POST", "/v1/sandboxes/{id}/sessions/{sid}/resize"],
  attachSession: ["GET", "/v1/sandboxes/{id}/sessions/{sid}/attach"],
  readFile: ["GET", "/v1/sandboxes/{id}/files"],
  writeFile: ["PUT", "/v1/sandboxes/{id}/files"],
  removeFile: ["DELETE", "/v1/sandboxes/{id}/files"],
  statFile: ["GET", "/v1/sandboxes/{id}/files/stat"],
  listFiles: ["GET", "/v1/sandboxes/{id}/files/list"],
  watchFiles: ["GET", "/v1/sandboxes/{id}/files/watch"],
  makeDirectory: ["POST", "/v1/sandboxes/{id}/files/directories"],
  moveFile: ["POST", "/v1/sandboxes/{id}/files/move"],
  readArchive: ["GET", "/v1/sandboxes/{id}/archive"],
  writeArchive: ["PUT", "/v1/sandboxes/{id}/archive"],
  createSnapshot: ["POST", "/v1/sandboxes/{id}/snapshots"],
  listSnapshots: ["GET", "/v1/snapshots"],
  getSnapshot: ["GET", "/v1/snapshots/{nid}"],
  updateSnapshot: ["PATCH", "/v1/snapshots/{nid}"],
  removeSnapshot: ["DELETE", "/v1/snapshots/{nid}"],
  restoreSandbox: ["POST", "/v1/sandboxes/{id}/restore"],
  rebaseSandbox: ["POST", "/v1/sandboxes/{id}/rebase"],
  rollbackSandbox: ["POST", "/v1/sandboxes/{id}/rollback"],
  listImages: ["GET", "/v1/images"],
  pullImage: ["POST", "/v1/images/pull"],
  importImage: ["POST", "/v1/images/import"],
  buildImage: ["POST", "/v1/images/build"],
  removeImage: ["DELETE", "/v1/images"],
  pruneImages: ["POST", "/v1/images/prune"],
  createWebhook: ["POST", "/v1/webhooks"],
  listWebhooks: ["GET", "/v1/webhooks"],
  getWebhook: ["GET", "/v1/webhooks/{wid}"],
  removeWebhook: ["DELETE", "/v1/webhooks/{wid}"],
  pauseWebhook: ["POST", "/v1/webhooks/{wid}/pause"],
  enableWebhook: ["POST", "/v1/webhooks/{wid}/enable"],
  testWebhook: ["POST", "/v1/webhooks/{wid}/test"],
  listDeliveries: ["GET", "/v1/webhooks/{wid}/deliveries"],
  listPorts: ["GET", "/v1/sandboxes/{id}/ports"],
  exposePort: ["PUT", "/v1/sandboxes/{id}/ports/{port}"],
  unexposePort: ["DELETE", "/v1/sandboxes/{id}/ports/{port}"],
  connectPort: ["GET", "/v1/sandboxes/{id}/ports/{port}/connect"],
  createWake: ["POST", "/v1/sandboxes/{id}/wakes"],
  listWakes: ["GET", "/v1/sandboxes/{id}/wakes"],
  removeWake: ["DELETE", "/v1/sandboxes/{id}/wakes/{wid}"],
  callWake: ["POST", "/v1/wake/{token}"],
  callWakeByPut: ["PUT", "/v1/wake/{token}"],
  callWakeByGet: ["GET", "/v1/wake/{token}"],
  capabilities: ["GET", "/v1/capabilities"],
  info: ["GET", "/v1/info"],
  health: ["GET", "/v1/health"],
  version: ["GET", "/v1/version"],
  openapi: ["GET", "/v1/openapi.json"],
} as const satisfies Record<RouteName, readonly [string, string]>;

/** Those that take an Idempotency-Key: sent again with the same key, they do nothing twice. */
export const keyed: ReadonlySet<RouteName> = new Set([
  "createSandbox",
  "removeSandbox",
  "pauseSandbox",
  "resumeSandbox",
  "stopSandbox",
  "startSandbox",
  "forkSandbox",
  "createSnapshot",
  "restoreSandbox",
  "rebaseSandbox",
  "rollbackSandbox",
  "exec",
  "startSession",
  "createWebhook",
]);

export type Params = Readonly<Record<string, string>>;
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The address of a call: each value percent-encoded exactly once. */
export function addressOf(name: RouteName, params: Params = {}, query: Query = {}): string {
  const path = calls[name][1].replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ""));
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = pairs.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
  return text === "" ? path : `${path}?${text}`;
}
