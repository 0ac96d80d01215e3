import { z } from "zod";
import { Capabilities, Info } from "../info.ts";
import { json, route } from "../route-shape.ts";

export const systemRoutes = {
  capabilities: route({
    method: "GET",
    path: "/v1/capabilities",
    tag: "system",
    scope: "any",
    summary: "What the engine can do, and why not.",
    responses: { 200: json(Capabilities) },
  }),
  info: route({
    method: "GET",
    path: "/v1/info",
    tag: "system",
    scope: "any",
    summary: "The daemon, its engine, pool and host.",
    responses: { 200: json(Info) },
  }),
  health: route({
    method: "GET",
    path: "/v1/health",
    tag: "system",
    scope: "public",
    summary: "Whether it can take calls.",
    responses: { 200: json(z.object({ status: z.literal("ok") })) },
  }),
  healthz: route({
    method: "GET",
    path: "/healthz",
    scope: "public",
    tag: "system",
    summary: "Whether it has recovered and its store answers: what a supervisor asks.",
    responses: { 200: json(z.object({ status: z.literal("ok") })) },
  }),
  metrics: route({
    method: "GET",
    path: "/metrics",
    scope: "metrics",
    tag: "system",
    summary: "Figures in the text format of Prometheus: sandboxes by state, operations, requests, the pool.",
    responses: { 200: { kind: "text" } },
  }),
  version: route({
    method: "GET",
    path: "/v1/version",
    tag: "system",
    scope: "any",
    summary: "The daemon's version and the API's.",
    responses: { 200: json(z.object({ version: z.string(), api: z.literal("v1") })) },
  }),
  openapi: route({
    method: "GET",
    path: "/v1/openapi.json",
    tag: "system",
    scope: "any",
    summary: "This document.",
    responses: { 200: json(z.record(z.string(), z.unknown())) },
  }),
} as const;
