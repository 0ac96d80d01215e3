import { z } from "zod";
import { json, queryBoolean, route, SandboxParams, SnapshotParams } from "../route-shape.ts";
import {
  CreateSnapshotRequest,
  RebaseRequest,
  RestoreRequest,
  RollbackRequest,
  Snapshot,
  SnapshotList,
  UpdateSnapshotRequest,
} from "../snapshot.ts";
import { done, made, Wait } from "./answer.ts";

const snapshot = { tag: "snapshots", params: SnapshotParams } as const;
const ofSandbox = { tag: "snapshots", params: SandboxParams } as const;

export const snapshotRoutes = {
  createSnapshot: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/snapshots",
    scope: "snapshot",
    summary: "Keep its state under a name: a running one is frozen shortly, a paused or stopped one is not woken.",
    query: Wait,
    body: CreateSnapshotRequest,
    keyed: "begun",
    responses: made,
  }),
  listSnapshots: route({
    method: "GET",
    path: "/v1/snapshots",
    tag: "snapshots",
    scope: "sandbox:read",
    summary: "All snapshots, oldest first.",
    responses: { 200: json(SnapshotList) },
  }),
  getSnapshot: route({
    ...snapshot,
    method: "GET",
    path: "/v1/snapshots/{nid}",
    scope: "sandbox:read",
    summary: "The snapshot's record.",
    responses: { 200: json(Snapshot) },
  }),
  updateSnapshot: route({
    ...snapshot,
    method: "PATCH",
    path: "/v1/snapshots/{nid}",
    scope: "snapshot",
    summary: "Change its labels, its pin or its expiry.",
    body: UpdateSnapshotRequest,
    responses: { 200: json(Snapshot) },
  }),
  removeSnapshot: route({
    ...snapshot,
    method: "DELETE",
    path: "/v1/snapshots/{nid}",
    scope: "snapshot",
    summary: "Remove it and free what it alone holds. What was made from it stays as it is.",
    query: z.strictObject({ force: queryBoolean.optional().describe("Also when its record can't be read.") }),
    responses: { 200: json(Snapshot) },
  }),
  restoreSandbox: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/restore",
    scope: "snapshot",
    summary: "Put a paused or stopped sandbox back to a snapshot, in place. What it had is given up.",
    query: Wait,
    body: RestoreRequest,
    keyed: "begun",
    responses: done,
  }),
  rebaseSandbox: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/rebase",
    scope: "sandbox:write",
    summary: "Put the files of a paused or stopped sandbox over another image; its state before is kept for a rollback.",
    query: Wait,
    body: RebaseRequest,
    keyed: "begun",
    responses: done,
  }),
  rollbackSandbox: route({
    ...ofSandbox,
    method: "POST",
    path: "/v1/sandboxes/{id}/rollback",
    scope: "sandbox:write",
    summary: "Take its last rebase back, as long as the state before is kept.",
    query: Wait,
    body: RollbackRequest,
    keyed: "begun",
    responses: done,
  }),
} as const;
