import { z } from "zod";
import { ErrorBody } from "../error-body.ts";
import { idOf, json, none, queryBoolean, queryInteger, route, SandboxParams } from "../route-shape.ts";
import {
  ClientId,
  ExecRequest,
  ExecResult,
  InputTaken,
  SessionEnd,
  SessionMark,
  SessionOutput,
  SignalRequest,
  TerminalSize,
} from "../session.ts";
import { BeginSessionRequest, Session, SessionList } from "../supervision.ts";

const SessionParams = SandboxParams.extend({ sid: idOf("se") });
/** Data of one server-sent event of a session. */
const SessionEvent = z.union([Session, SessionOutput, SessionMark, SessionEnd, ErrorBody]);
const ofSandbox = { tag: "sessions", scope: "exec", params: SandboxParams } as const;
const ofSession = { ...ofSandbox, params: SessionParams } as const;

export const sessionRoutes = {
  exec: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/exec",
    summary: "Run a command to its end and answer with its output, the last 8 MiB of each stream.",
    body: ExecRequest,
    bodyLimitBytes: 16 * 1024 * 1024,
    keyed: "begun",
    responses: { 200: json(ExecResult) },
  }),
  execSocket: route({
    ...ofSandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/exec",
    summary: "Run a command over a WebSocket: the first message is a StartSessionRequest as text.",
    query: z.strictObject({
      client: ClientId.optional().describe(
        "This client's id: its input frames have positions. When the connection breaks, it attaches with the same id, and none is typed twice.",
      ),
    }),
    responses: { 101: { kind: "socket" } },
  }),
  startSession: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions",
    summary: "Start a command and leave it running, or have it kept running (`supervise`).",
    body: BeginSessionRequest,
    keyed: "begun",
    responses: { 201: json(Session) },
  }),
  listSessions: route({
    ...ofSandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions",
    summary: "Its sessions, ended ones too.",
    responses: { 200: json(SessionList) },
  }),
  getSession: route({
    ...ofSession,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions/{sid}",
    summary: "One session.",
    responses: { 200: json(Session) },
  }),
  removeSession: route({
    ...ofSession,
    method: "DELETE",
    path: "/v1/sandboxes/{id}/sessions/{sid}",
    summary: "Forget an ended session. A supervised one is stopped by `force`.",
    query: z.strictObject({ force: queryBoolean.optional().describe("Kill it first if it runs.") }),
    responses: { 204: none },
  }),
  signalSession: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/signal",
    summary: "Send a signal to its process group.",
    body: SignalRequest,
    responses: { 204: none },
  }),
  resizeSession: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/resize",
    summary: "Give its terminal another size.",
    body: TerminalSize,
    responses: { 204: none },
  }),
  startSupervised: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/start",
    summary: "Have a supervised session's process run; one that was given up is tried again.",
    responses: { 200: json(Session) },
    errors: ["session_not_found", "session_not_supervised"],
  }),
  stopSupervised: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/stop",
    summary: "End a supervised session's process, and keep it ended. Answers when it has ended.",
    responses: { 200: json(Session) },
    errors: ["session_not_found", "session_not_supervised"],
  }),
  restartSupervised: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/restart",
    summary: "End a supervised session's process and begin the next one.",
    responses: { 200: json(Session) },
    errors: ["session_not_found", "session_not_supervised"],
  }),
  attachSession: route({
    ...ofSession,
    method: "GET",
    path: "/v1/sandboxes/{id}/sessions/{sid}/attach",
    summary:
      "Its output after a sequence number, then live: over a WebSocket, or as server-sent events (`started`, `output` with the sequence number as id and the bytes in base64, `live`, `mark`, `end`, `error`). A sequence number older than what is kept is refused with 410 and the oldest one.",
    query: z.strictObject({
      after: queryInteger(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe("Last sequence number already seen. Default 0: from the first on. `Last-Event-ID` counts before it."),
      hold: queryBoolean
        .optional()
        .describe(
          "Whether the process waits for this reader when what is kept is full of what it has not read. Without, a reader that is too slow is cut off with `session_output_gone`. Default: only over a WebSocket that may write.",
        ),
      mode: z.enum(["read", "write"]).optional().describe("`read`: this client gives no input, size or signal. Default `write`."),
      client: ClientId.optional().describe("This client's id: its input frames have positions, so that none is typed twice."),
      takeover: queryBoolean.optional().describe("End the connections of all others that may write."),
    }),
    responses: { 101: { kind: "socket" }, 200: { kind: "events", event: SessionEvent } },
    errors: ["session_not_found", "session_output_gone"],
  }),
  writeSession: route({
    ...ofSession,
    method: "POST",
    path: "/v1/sandboxes/{id}/sessions/{sid}/input",
    // `client` and `offset` do it.
    keyed: "none",
    summary: "Give it input, for clients without a WebSocket. Answers when the process has it.",
    query: z.strictObject({
      client: ClientId.optional().describe("This client's id. With it `offset` counts: a repeat of the same call is not typed twice."),
      offset: queryInteger(Number.MAX_SAFE_INTEGER)
        .optional()
        .describe("Where in all that this client has sent the first byte stands. Default 0."),
      end: queryBoolean.optional().describe("The input ends after it."),
    }),
    upload: "application/octet-stream",
    responses: { 200: json(InputTaken) },
    errors: ["session_not_found", "session_ended"],
  }),
} as const;
