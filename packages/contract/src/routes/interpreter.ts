import { CreateInterpreterRequest, Interpreter, InterpreterId, RunCodeRequest, RunLine, RunResult } from "../interpreter.ts";
import { json, route, SandboxParams } from "../route-shape.ts";

const InterpreterParams = SandboxParams.extend({ iid: InterpreterId });

export const interpreterRoutes = {
  createInterpreter: route({
    tag: "sessions",
    params: SandboxParams,
    method: "POST",
    path: "/v1/sandboxes/{id}/interpreters",
    scope: "exec",
    summary: "Begin an interpreter of its own; it is listed and removed as a session.",
    body: CreateInterpreterRequest,
    responses: { 201: json(Interpreter) },
  }),
  runCode: route({
    tag: "sessions",
    params: InterpreterParams,
    method: "POST",
    path: "/v1/sandboxes/{id}/interpreters/{iid}/run",
    scope: "exec",
    summary: "Run code where the run before left off. One at a time: another one meanwhile is refused with `interpreter_busy`.",
    body: RunCodeRequest,
    bodyLimitBytes: 8 * 1024 * 1024,
    responses: { 200: { kind: "lines", schema: RunResult, lines: RunLine } },
    errors: ["interpreter_busy", "session_not_found", "session_ended"],
  }),
} as const;
