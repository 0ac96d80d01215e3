import { json, route } from "../route-shape.ts";
import { UsageList } from "../usage.ts";

export const usageRoutes = {
  usage: route({
    method: "GET",
    path: "/v1/usage",
    scope: "sandbox:read",
    tag: "sandboxes",
    summary: "What each sandbox has used of the node so far: running time times CPUs and memory, and stored bytes.",
    responses: { 200: json(UsageList) },
  }),
} as const;
