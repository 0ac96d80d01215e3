import { z } from "zod";
import { json, queryBoolean, queryInteger, route, SandboxParams } from "../route-shape.ts";
import {
  CreateSandboxRequest,
  ForkRequest,
  PauseRequest,
  ResumeRequest,
  Sandbox,
  SandboxList,
  StartRequest,
  StopRequest,
} from "../sandbox.ts";
import { done, made, Wait } from "./answer.ts";

const sandbox = { tag: "sandboxes", params: SandboxParams } as const;

export const sandboxRoutes = {
  createSandbox: route({
    method: "POST",
    path: "/v1/sandboxes",
    tag: "sandboxes",
    summary: "Make a sandbox from an image and boot it.",
    query: Wait,
    body: CreateSandboxRequest,
    responses: made,
  }),
  listSandboxes: route({
    method: "GET",
    path: "/v1/sandboxes",
    tag: "sandboxes",
    summary: "All sandboxes, in every state.",
    responses: { 200: json(SandboxList) },
  }),
  getSandbox: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}",
    summary: "The sandbox's record.",
    responses: { 200: json(Sandbox) },
  }),
  removeSandbox: route({
    ...sandbox,
    method: "DELETE",
    path: "/v1/sandboxes/{id}",
    summary: "Remove it and free everything; works in every state with force.",
    query: Wait.extend({ force: queryBoolean.optional().describe("Also when it is running or paused.") }),
    responses: done,
  }),
  pauseSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/pause",
    summary: "Save its memory and free its runtime.",
    query: Wait,
    body: PauseRequest,
    responses: done,
  }),
  resumeSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/resume",
    summary: "Bring its processes back.",
    query: Wait,
    body: ResumeRequest,
    responses: done,
  }),
  stopSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/stop",
    summary: "End it and delete its checkpoint; files stay.",
    query: Wait,
    body: StopRequest,
    responses: done,
  }),
  startSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/start",
    summary: "Boot it fresh from its files.",
    query: Wait,
    body: StartRequest,
    responses: done,
  }),
  forkSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/fork",
    summary: "Copy it with its memory; each child has its own outcome in the operation's result.",
    query: Wait,
    body: ForkRequest,
    responses: made,
  }),
  sandboxLogs: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/logs",
    summary: "What its guest and engine wrote, newest last.",
    query: z.strictObject({ limit: queryInteger(16_777_216).optional().describe("Bytes from the end. Default 1 MiB.") }),
    responses: { 200: { kind: "text" } },
  }),
} as const;
