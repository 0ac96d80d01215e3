import { z } from "zod";
import { Team } from "../access.ts";
import { json, route } from "../route-shape.ts";
import { Prices, SetPricesRequest, SetTeamLimitsRequest, TeamInfo, TeamList, TopUpRequest } from "../team.ts";

const params = z.object({ team: Team.describe("Name of the team.") });

export const teamRoutes = {
  listTeams: route({
    method: "GET",
    path: "/v1/teams",
    tag: "access",
    scope: "sandbox:read",
    summary: "Teams that have sandboxes, limits or credit, with what they hold of the node; of a team's token its own.",
    responses: { 200: json(TeamList) },
  }),
  setTeamLimits: route({
    method: "PUT",
    path: "/v1/teams/{team}/limits",
    tag: "access",
    scope: "*",
    host: true,
    params,
    summary: "Set what the sandboxes of a team may hold of the node together, in place of what was set. What they hold already they keep.",
    body: SetTeamLimitsRequest,
    responses: { 200: json(TeamInfo) },
  }),
  topUpTeam: route({
    method: "POST",
    path: "/v1/teams/{team}/credits",
    tag: "access",
    scope: "*",
    host: true,
    params,
    summary: "Add to a team's prepaid credit. From the first time on what it uses is paid from it.",
    body: TopUpRequest,
    keyed: "begun",
    responses: { 200: json(TeamInfo) },
  }),
  getPrices: route({
    method: "GET",
    path: "/v1/prices",
    tag: "access",
    scope: "sandbox:read",
    summary: "What use costs teams that have a budget.",
    responses: { 200: json(Prices) },
  }),
  setPrices: route({
    method: "PUT",
    path: "/v1/prices",
    tag: "access",
    scope: "*",
    host: true,
    summary: "Set what use costs from now on.",
    body: SetPricesRequest,
    responses: { 200: json(Prices) },
  }),
} as const;
