import { routes } from "@torpor/contract";
import type { FastifyInstance } from "fastify";
import { teamOf } from "../caller.ts";
import { defined } from "../defined.ts";
import { onceOf } from "../once.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";

export function serveTeams(app: FastifyInstance, { lifecycle: { teams } }: Served): void {
  serve(app, routes.listTeams, async ({ request }) => ({ teams: await teams.list(teamOf(request)) }));
  serve(app, routes.setTeamLimits, async ({ params, body }) => teams.setLimits(params.team, defined(body)));
  serve(app, routes.topUpTeam, async ({ params, body, request }) => teams.topUp(params.team, body.amount, onceOf(request, body)));
  serve(app, routes.getPrices, async () => teams.prices);
  serve(app, routes.setPrices, async ({ body }) => teams.setPrices(body));
}
