import { z } from "zod";
import { idOf, json, none, route, SandboxParams } from "../route-shape.ts";
import { CreatedWake, CreateWakeRequest, WakeAccepted, WakeList, wakeBodyLimitBytes } from "../wake.ts";

const sandbox = { tag: "wakes", params: SandboxParams } as const;

const called = {
  tag: "wakes",
  // By strangers, who know nothing of keys: each call is one delivery.
  keyed: "none",
  path: "/v1/wake/{token}",
  params: z.object({ token: z.string().regex(/^[a-z2-7]{32}$/, "an address to wake a sandbox ends with 32 characters of a-z2-7") }),
  query: z.looseObject({}),
  responses: { 202: json(WakeAccepted) },
} as const;
const withBody = { ...called, upload: "*/*", bodyLimitBytes: wakeBodyLimitBytes } as const;

export const wakeRoutes = {
  createWake: route({
    ...sandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/wakes",
    scope: "sandbox:write",
    summary: "Let a sandbox be resumed at a time, by a schedule, or by a call to an address.",
    body: CreateWakeRequest,
    keyed: "begun",
    responses: { 201: json(CreatedWake) },
  }),
  listWakes: route({
    ...sandbox,
    method: "GET",
    path: "/v1/sandboxes/{id}/wakes",
    scope: "sandbox:read",
    summary: "What resumes it, and how many wakes have not reached it yet.",
    responses: { 200: json(WakeList) },
  }),
  removeWake: route({
    ...sandbox,
    method: "DELETE",
    path: "/v1/sandboxes/{id}/wakes/{wid}",
    params: SandboxParams.extend({ wid: idOf("wk") }),
    scope: "sandbox:write",
    summary: "Revoke it; what it stored already is delivered.",
    responses: { 204: none },
  }),
  callWake: route({
    ...withBody,
    method: "POST",
    scope: "public",
    summary: "Wake the sandbox: method, headers and body are stored for it before the answer.",
  }),
  callWakeByPut: route({ scope: "public", ...withBody, method: "PUT", summary: "As POST." }),
  callWakeByGet: route({ scope: "public", ...called, method: "GET", summary: "As POST, without a body." }),
} as const;
