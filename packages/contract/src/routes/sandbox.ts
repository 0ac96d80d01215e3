import { z } from "zod";
import { DifferenceLine, DifferenceList } from "../difference.ts";
import { Family } from "../family.ts";
import { json, queryBoolean, queryInteger, queryList, route, SandboxParams } from "../route-shape.ts";
import {
  CreateSandboxRequest,
  ForkRequest,
  PauseRequest,
  ResumeRequest,
  Sandbox,
  SandboxList,
  SandboxState,
  StartRequest,
  StopRequest,
  UpdateSandboxRequest,
} from "../sandbox.ts";
import { RefreshRequest } from "../timing.ts";
import { done, made, Wait, WaitCapacity } from "./answer.ts";

const LabelFilter = z.string().regex(/^[^=,]{1,63}=[^,]{0,255}$/, "a label is asked for as name=value");

const sandbox = { tag: "sandboxes", params: SandboxParams } as const;

export const sandboxRoutes = {
  createSandbox: route({
    method: "POST",
    path: "/v1/sandboxes",
    tag: "sandboxes",
    scope: "sandbox:write",
    summary: "Make a sandbox from an image and boot it.",
    query: WaitCapacity,
    body: CreateSandboxRequest,
    keyed: "begun",
    responses: made,
  }),
  listSandboxes: route({
    method: "GET",
    path: "/v1/sandboxes",
    tag: "sandboxes",
    scope: "sandbox:read",
    summary: "Sandboxes, oldest first: all, in every state, unless fewer are asked for.",
    query: z.strictObject({
      state: queryList(SandboxState, SandboxState.options.length)
        .optional()
        .describe("Only those in these states, with commas between them: running,paused"),
      label: queryList(LabelFilter, 32).optional().describe("Only those with all of these labels: owner=me,step=3"),
      limit: queryInteger(1000).optional().describe("Sandboxes a page. Default: all."),
      after: z
        .string()
        .max(200)
        .optional()
        .describe(
          "`next` of the page before. Each sandbox that is there throughout comes exactly once, whatever is made and removed meanwhile.",
        ),
    }),
    responses: { 200: json(SandboxList) },
  }),
  getSandbox: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}",
    scope: "sandbox:read",
    summary: "The sandbox's record.",
    responses: { 200: json(Sandbox) },
  }),
  updateSandbox: route({
    ...sandbox,
    method: "PATCH",
    path: "/v1/sandboxes/{id}",
    scope: "sandbox:write",
    summary: "Change its labels, or how its life is bounded in time.",
    query: Wait,
    body: UpdateSandboxRequest,
    responses: { 200: json(Sandbox) },
  }),
  refreshSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/refresh",
    scope: "sandbox:write",
    summary: "Let it run on: its ttl begins anew, and never ends earlier than before or later than its hard ttl.",
    query: Wait,
    body: RefreshRequest,
    responses: { 200: json(Sandbox) },
  }),
  removeSandbox: route({
    ...sandbox,
    method: "DELETE",
    path: "/v1/sandboxes/{id}",
    scope: "sandbox:delete",
    summary: "Remove it and free everything; works in every state with force.",
    query: Wait.extend({ force: queryBoolean.optional().describe("Also when it is running or paused.") }),
    keyed: "begun",
    responses: done,
  }),
  pauseSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/pause",
    scope: "sandbox:write",
    summary: "Save its memory and free its runtime.",
    query: Wait,
    body: PauseRequest,
    keyed: "begun",
    responses: done,
  }),
  resumeSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/resume",
    scope: "sandbox:write",
    summary: "Bring its processes back.",
    query: WaitCapacity,
    body: ResumeRequest,
    keyed: "begun",
    responses: done,
  }),
  stopSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/stop",
    scope: "sandbox:write",
    summary: "End it and delete its checkpoint; files stay.",
    query: Wait,
    body: StopRequest,
    keyed: "begun",
    responses: done,
  }),
  startSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/start",
    scope: "sandbox:write",
    summary: "Boot it fresh from its files.",
    query: WaitCapacity,
    body: StartRequest,
    keyed: "begun",
    responses: done,
  }),
  forkSandbox: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/fork",
    scope: "sandbox:write",
    summary: "Copy it with its memory; each child has its own outcome in the operation's result.",
    query: WaitCapacity,
    body: ForkRequest,
    keyed: "begun",
    responses: made,
  }),
  tree: route({
    method: "GET",
    path: "/v1/tree",
    tag: "sandboxes",
    scope: "sandbox:read",
    summary: "What was forked from what: all sandboxes, or the family of one; removed ones too, as long as others come from them.",
    query: z.strictObject({ sandbox: SandboxParams.shape.id.optional() }),
    responses: { 200: json(Family) },
  }),
  diffSandbox: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/diff",
    scope: "sandbox:read",
    summary: "How its files differ from its image, or another sandbox's from its own; from the disks alone, in any state.",
    query: z.strictObject({
      with: SandboxParams.shape.id
        .optional()
        .describe("Id or name of another sandbox: what that one has otherwise. Default: from the image on."),
      limit: queryInteger(1_000_000).optional().describe("Most differences. Default 10000 as one JSON document, none as lines."),
    }),
    responses: { 200: { kind: "lines", schema: DifferenceList, lines: DifferenceLine } },
  }),
  sandboxLogs: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/logs",
    scope: "sandbox:read",
    summary: "What its guest and engine wrote, newest last.",
    query: z.strictObject({ limit: queryInteger(16_777_216).optional().describe("Bytes from the end. Default 1 MiB.") }),
    responses: { 200: { kind: "text" } },
  }),
} as const;
