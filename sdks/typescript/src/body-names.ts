import type { BodyOf, RouteName, StartSessionRequest } from "@torpor/contract";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";

/** A team's limits and prices are read, changed and set again: what a newer daemon has among them is not this client's to refuse. */
type Carried = "setTeamLimits" | "setPrices";
type WithFields = { [R in RouteName]: HasFields<keyof NamesOf<BodyOf<R>>> extends true ? R : never }[RouteName];
/** An empty strict object counts as one of any fields. */
type HasFields<K> = [K] extends [never] ? false : string extends K ? false : true;

/** Of the first message over a WebSocket, which starts a command. */
export const startNames: NamesOf<StartSessionRequest> = {
  argv: true,
  env: true,
  workdir: true,
  user: true,
  stdin: true,
  terminal: true,
  timeoutMs: true,
  journalBytes: true,
  keepMs: true,
};

/** What the JSON body of each call may have. */
export const bodyNames: { readonly [R in Exclude<WithFields, Carried>]: NamesOf<BodyOf<R>> } = {
  createSandbox: {
    image: true,
    snapshot: true,
    memory: true,
    count: true,
    name: true,
    resources: true,
    env: true,
    workdir: true,
    user: true,
    network: true,
    labels: true,
    restart: true,
    selfControl: true,
    ttlMs: true,
    hardTtlMs: true,
    idleMs: true,
    onTimeout: true,
    autoResume: true,
    pull: true,
  },
  updateSandbox: { labels: true, ttlMs: true, hardTtlMs: true, idleMs: true, onTimeout: true, autoResume: true },
  refreshSandbox: { ttlMs: true },
  pauseSandbox: { memory: true },
  resumeSandbox: { memory: true },
  stopSandbox: { graceMs: true },
  forkSandbox: {
    name: true,
    names: true,
    count: true,
    memory: true,
    env: true,
    labels: true,
    ttlMs: true,
    hardTtlMs: true,
    idleMs: true,
    onTimeout: true,
    autoResume: true,
  },
  exec: { argv: true, env: true, workdir: true, user: true, timeoutMs: true, journalBytes: true, keepMs: true, input: true },
  startSession: { ...startNames, command: true, supervise: true },
  signalSession: { signal: true },
  resizeSession: { rows: true, columns: true },
  createInterpreter: { language: true },
  runCode: { code: true, timeoutMs: true },
  exposePort: { public: true },
  makeDirectory: { path: true, user: true, parents: true, mode: true },
  moveFile: { from: true, to: true, user: true },
  pullImage: { reference: true, credentials: true, insecure: true },
  importImage: { path: true, format: true, reference: true },
  buildImage: { suite: true, packages: true, reference: true },
  createSnapshot: { name: true, memory: true, labels: true, pinned: true, expiresAt: true },
  updateSnapshot: { labels: true, pinned: true, expiresAt: true },
  restoreSandbox: { snapshot: true, memory: true },
  rebaseSandbox: { image: true, rollbackMs: true },
  createWebhook: { url: true, secret: true, types: true, sandbox: true, labels: true, description: true },
  createWake: { at: true, afterMs: true, cron: true, timezone: true, url: true, signed: true, label: true },
  createToken: { name: true, team: true, scopes: true, expiresAt: true },
  login: { code: true, token: true },
  topUpTeam: { amount: true },
};

/** Refuses a body with fields that there are not. */
export function refuseUnknownIn(name: RouteName, body: unknown): void {
  const names: NamesOf<object> | undefined = (bodyNames as Partial<Record<RouteName, NamesOf<object>>>)[name];
  if (body !== undefined && names !== undefined) refuseUnknown(body as object, names);
}
