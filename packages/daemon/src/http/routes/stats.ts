import { setTimeout as sleep } from "node:timers/promises";
import { type NodeStats, routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { cutOffWhenStalled } from "../event-stream.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { startStream } from "../start-stream.ts";

const everyMs = 2000;

/** Nothing is measured but for somebody who reads it now. */
export function serveStats(app: FastifyInstance, { lifecycle, info }: Served, againMs = everyMs): void {
  const now = async (team: string | undefined): Promise<NodeStats> => {
    const [stats, { pool }] = await Promise.all([lifecycle.allStats(team), info()]);
    return { ...stats, pool: { sizeBytes: pool.sizeBytes, freeBytes: pool.freeBytes } };
  };
  serve(app, routes.sandboxStats, async ({ params }) => lifecycle.stats(params.id));
  serve(app, routes.usage, async ({ request }) => ({ usage: lifecycle.usage.list(teamOf(request)) }));
  serve(app, routes.stats, async ({ request, reply }) => {
    const team = teamOf(request);
    if (!(request.headers.accept ?? "").includes("text/event-stream")) return now(team);
    const stream = await startStream(again(() => now(team), againMs, leaving(reply)));
    cutOffWhenStalled(reply);
    return reply.type("text/event-stream").header("cache-control", "no-store").serializer(String).send(stream);
  });
}

async function* again(now: () => Promise<NodeStats>, againMs: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  while (!signal.aborted) {
    yield Buffer.from(`data: ${JSON.stringify(await now())}\n\n`);
    await sleep(againMs, undefined, { signal, ref: false }).catch(() => {});
  }
}
