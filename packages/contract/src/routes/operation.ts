import { z } from "zod";
import { EventList } from "../event.ts";
import { Operation, OperationAnswer, OperationList } from "../operation.ts";
import { idOf, json, queryInteger, route, SandboxParams } from "../route-shape.ts";
import { Wait } from "./answer.ts";

export const operationRoutes = {
  getOperation: route({
    method: "GET",
    path: "/v1/operations/{oid}",
    tag: "operations",
    scope: "sandbox:read",
    summary: "One operation.",
    params: z.object({ oid: idOf("op") }),
    responses: { 200: json(Operation) },
  }),
  cancelOperation: route({
    method: "POST",
    path: "/v1/operations/{oid}/cancel",
    tag: "operations",
    scope: "sandbox:write",
    summary: "Give an operation up: what it did is undone. Refused once it can only go forward.",
    params: z.object({ oid: idOf("op") }),
    query: Wait,
    responses: { 200: json(OperationAnswer), 202: json(OperationAnswer) },
  }),
  listOperations: route({
    tag: "operations",
    params: SandboxParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/operations",
    scope: "sandbox:read",
    summary: "Its operations, newest first.",
    responses: { 200: json(OperationList) },
  }),
  listEvents: route({
    tag: "operations",
    params: SandboxParams,
    method: "GET",
    path: "/v1/sandboxes/{id}/events",
    scope: "sandbox:read",
    summary: "Its events, oldest first.",
    query: z.strictObject({
      after: queryInteger(Number.MAX_SAFE_INTEGER).optional().describe("Only those with a higher seq."),
      limit: queryInteger(10_000).optional(),
    }),
    responses: { 200: json(EventList) },
  }),
} as const;
