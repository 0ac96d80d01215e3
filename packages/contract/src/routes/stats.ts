import { json, route, SandboxParams } from "../route-shape.ts";
import { NodeStats, SandboxStats } from "../stats.ts";

export const statsRoutes = {
  sandboxStats: route({
    method: "GET",
    path: "/v1/sandboxes/{id}/stats",
    scope: "sandbox:read",
    tag: "sandboxes",
    summary: "What it uses now: memory, CPU, processes, disk, checkpoint, network.",
    params: SandboxParams,
    responses: { 200: json(SandboxStats) },
  }),
  stats: route({
    method: "GET",
    path: "/v1/stats",
    scope: "sandbox:read",
    tag: "sandboxes",
    summary: "What all sandboxes use now, and how full the pool is; with Accept: text/event-stream again each 2 s.",
    responses: { 200: { kind: "events", schema: NodeStats, event: NodeStats } },
  }),
} as const;
