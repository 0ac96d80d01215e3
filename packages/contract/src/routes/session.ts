import { z } from "zod";
import { idOf, json, none, queryBoolean, queryInteger, route, SandboxParams } from "../route-shape.ts";
import { ExecRequest, ExecResult, Session, SessionList, SignalRequest, StartSessionRequest, TerminalSize } from "../session.ts";

const SessionParams = SandboxParams.extend({ sid: idOf("se") });
const session = { tag: "sessions", params: SandboxParams } as const;

export const sessionRoutes = {
  exec: route({
    ...session,
    method: "POST",
    path: "/v1/sandboxes/{id}/exec",
    scope: "exec",
    summary: "Run a command to its end and answer with its output, the last 8 MiB of each stream.",
    body: ExecRequest,
    bodyLimitBytes: 16 * 1024 * 1024,
    keyed: "begun",
    responses: { 200: json(ExecResult) },
  }),
  execSocket: route({
    ...session,
    method: "GET",
    path: "/v1/sandboxes/{id}/exec",
    scope: "exec",
    summary: "Run a command over a WebSocket: the first message is a StartSessionRequest as text.",
    responses: { 101: { kind: "socket" } },
  }),
  startSession: route({
    ...session,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions",
    scope: "exec",
    summary: "Start a command and leave it running.",
    body: StartSessionRequest,
    keyed: "begun",
    responses: { 201: json(Session) },
  }),
  listSessions: route({
    ...session,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions",
    scope: "exec",
    summary: "Its sessions, ended ones too.",
    responses: { 200: json(SessionList) },
  }),
  getSession: route({
    tag: "sessions",
    params: SessionParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions/{sid}",
    scope: "exec",
    summary: "One session.",
    responses: { 200: json(Session) },
  }),
  removeSession: route({
    tag: "sessions",
    params: SessionParams,
    method: "DELETE",
    path: "/v1/sandboxes/{id}/sessions/{sid}",
    scope: "exec",
    summary: "Forget an ended session.",
    query: z.strictObject({ force: queryBoolean.optional().describe("Kill it first if it runs.") }),
    responses: { 204: none },
  }),
  signalSession: route({
    tag: "sessions",
    params: SessionParams,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/signal",
    scope: "exec",
    summary: "Send a signal to its process group.",
    body: SignalRequest,
    responses: { 204: none },
  }),
  resizeSession: route({
    tag: "sessions",
    params: SessionParams,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/resize",
    scope: "exec",
    summary: "Give its terminal another size.",
    body: TerminalSize,
    responses: { 204: none },
  }),
  attachSession: route({
    tag: "sessions",
    params: SessionParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions/{sid}/attach",
    scope: "exec",
    summary: "Its output after a sequence number, then live, over a WebSocket.",
    query: z.strictObject({
      after: queryInteger(Number.MAX_SAFE_INTEGER).optional().describe("Last sequence number already seen. Default 0: all that is kept."),
      hold: queryBoolean.optional().describe("Whether the process waits for this reader, or its oldest output is dropped. Default true."),
    }),
    responses: { 101: { kind: "socket" } },
  }),
} as const;
