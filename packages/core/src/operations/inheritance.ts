import type { ForkOrigin, ForkRequest } from "@torpor/contract";
import { teamOf } from "../access/teams.ts";
import type { OperationRecord, SandboxRecord } from "../ports/store.ts";
import { settingsOf } from "../time/settings.ts";
import type { Draft } from "./birth.ts";

type Inherited = Pick<
  Draft,
  | "image"
  | "resources"
  | "env"
  | "workdir"
  | "user"
  | "network"
  | "labels"
  | "team"
  | "restart"
  | "selfControl"
  | "parentId"
  | "fork"
  | "time"
>;

/** What the child of a fork is born with: its source's settings, and over them what the fork asked for. */
export function inherit(source: SandboxRecord, operation: OperationRecord, place: Pick<ForkOrigin, "index" | "count">): Inherited {
  const { image, resources, workdir, user, network, restart, selfControl } = source;
  const { env, labels } = operation.request as ForkRequest;
  return {
    image,
    resources,
    env: { ...source.env, ...env },
    workdir,
    user,
    network,
    labels: { ...source.labels, ...labels },
    team: teamOf(source),
    ...(restart === undefined ? {} : { restart }),
    ...(selfControl === undefined ? {} : { selfControl }),
    parentId: source.id,
    time: { ...settingsOf(source), ...settingsOf(operation.request as ForkRequest) },
    // Of the operation, so that a child that a later attempt makes says the same.
    fork: { at: operation.startedAt, ...place },
  };
}
