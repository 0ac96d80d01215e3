import type {
  Event,
  FamilyMember,
  Image,
  Operation,
  OperationAnswer,
  Sandbox,
  Session,
  Snapshot,
  StartSessionRequest,
  UpdateSandboxRequest,
} from "@torpor/contract";
import { call, newKey } from "./call.ts";

const sandboxPath = (id: string) => `/v1/sandboxes/${encodeURIComponent(id)}`;

export const listSandboxes = async () => (await call<{ sandboxes: Sandbox[] }>("GET", "/v1/sandboxes")).sandboxes;
export const getSandbox = (id: string) => call<Sandbox>("GET", sandboxPath(id));
export const updateSandbox = (id: string, json: UpdateSandboxRequest) => call<Sandbox>("PATCH", sandboxPath(id), { json });
export const listImages = async () => (await call<{ images: Image[] }>("GET", "/v1/images")).images;
export const getOperation = (id: string) => call<Operation>("GET", `/v1/operations/${encodeURIComponent(id)}`);
export const listOperations = async (id: string) =>
  (await call<{ operations: Operation[] }>("GET", `${sandboxPath(id)}/operations`)).operations;
export const listEvents = async (id: string) =>
  (await call<{ events: Event[] }>("GET", `${sandboxPath(id)}/events`, { query: { limit: 500 } })).events;
export const listSnapshots = async () => (await call<{ snapshots: Snapshot[] }>("GET", "/v1/snapshots")).snapshots;
export const removeSnapshot = (id: string) => call<void>("DELETE", `/v1/snapshots/${encodeURIComponent(id)}`);
export const listFamily = async () => (await call<{ members: FamilyMember[] }>("GET", "/v1/tree")).members;

export const listSessions = async (id: string) => (await call<{ sessions: Session[] }>("GET", `${sandboxPath(id)}/sessions`)).sessions;
export const getSession = (id: string, session: string) =>
  call<Session>("GET", `${sandboxPath(id)}/sessions/${encodeURIComponent(session)}`);
export const changeSession = (id: string, session: string, verb: "start" | "stop" | "restart") =>
  call<Session>("POST", `${sandboxPath(id)}/sessions/${encodeURIComponent(session)}/${verb}`, { key: newKey() });
/** Ends it first if it runs. */
export const removeSession = (id: string, session: string) =>
  call<void>("DELETE", `${sandboxPath(id)}/sessions/${encodeURIComponent(session)}`, { query: { force: true }, key: newKey() });
export const startSession = (id: string, json: StartSessionRequest) =>
  call<Session>("POST", `${sandboxPath(id)}/sessions`, { json, key: newKey() });

export type Verb = "pause" | "resume" | "stop" | "start" | "fork" | "snapshots" | "restore" | "remove" | "create";

/** Begins an operation: without `wait` the answer comes when it has ended. */
export function begin(
  verb: Verb,
  id: string,
  json: object,
  key: string,
  query: { wait?: number; force?: boolean } = {},
): Promise<OperationAnswer> {
  if (verb === "remove") return call("DELETE", sandboxPath(id), { key, query: { ...query, force: true } });
  return call("POST", verb === "create" ? "/v1/sandboxes" : `${sandboxPath(id)}/${verb}`, { json, key, query });
}
