import { z } from "zod";
import { Entry, EntryList, MakeDirectoryRequest, MoveRequest } from "../file.ts";
import { json, none, queryBoolean, queryInteger, queryMode, route, SandboxParams, stream } from "../route-shape.ts";

const path = z.string().min(1, "a path is needed").describe("Path in the sandbox; a relative one starts at its working directory.");
const user = z.string().min(1).max(128).optional().describe("User to act as. Default root.");
const file = { tag: "files", params: SandboxParams } as const;

export const fileRoutes = {
  readFile: route({
    ...file,
    method: "GET",
    path: "/v1/sandboxes/{id}/files",
    scope: "exec",
    summary: "A file's content; X-Torpor-Entry has its Entry as percent-encoded JSON.",
    query: z.strictObject({ path, user }),
    responses: { 200: stream("application/octet-stream") },
  }),
  writeFile: route({
    ...file,
    method: "PUT",
    path: "/v1/sandboxes/{id}/files",
    scope: "exec",
    summary: "Write a whole file atomically; a body that breaks off leaves the old file or nothing.",
    query: z.strictObject({ path, user, mode: queryMode.optional(), parents: queryBoolean.optional() }),
    upload: "application/octet-stream",
    responses: { 200: json(Entry) },
  }),
  removeFile: route({
    ...file,
    method: "DELETE",
    path: "/v1/sandboxes/{id}/files",
    scope: "exec",
    summary: "Remove a file or directory.",
    query: z.strictObject({ path, user, recursive: queryBoolean.optional() }),
    responses: { 204: none },
  }),
  statFile: route({
    ...file,
    method: "GET",
    path: "/v1/sandboxes/{id}/files/stat",
    scope: "exec",
    summary: "What is at a path.",
    query: z.strictObject({ path, user, follow: queryBoolean.optional().describe("Look behind a symbolic link. Default true.") }),
    responses: { 200: json(Entry) },
  }),
  listFiles: route({
    ...file,
    method: "GET",
    path: "/v1/sandboxes/{id}/files/list",
    scope: "exec",
    summary: "A directory's entries.",
    query: z.strictObject({ path, user, depth: queryInteger(64).optional() }),
    responses: { 200: json(EntryList) },
  }),
  watchFiles: route({
    ...file,
    method: "GET",
    scope: "exec",
    path: "/v1/sandboxes/{id}/files/watch",
    summary: "What happens to a file or in a directory, as lines of JSON, until the caller leaves.",
    query: z.strictObject({
      path,
      recursive: queryBoolean.optional().describe("Directories in it too, those made later as well. Default false."),
    }),
    responses: { 200: stream("application/x-ndjson") },
  }),
  makeDirectory: route({
    ...file,
    method: "POST",
    path: "/v1/sandboxes/{id}/files/directories",
    scope: "exec",
    summary: "Make a directory.",
    body: MakeDirectoryRequest,
    responses: { 201: json(Entry) },
  }),
  moveFile: route({
    ...file,
    method: "POST",
    path: "/v1/sandboxes/{id}/files/move",
    scope: "exec",
    summary: "Rename a file or directory.",
    body: MoveRequest,
    responses: { 200: json(Entry) },
  }),
  readArchive: route({
    ...file,
    method: "GET",
    path: "/v1/sandboxes/{id}/archive",
    scope: "exec",
    summary: "A file or directory as a tar stream.",
    query: z.strictObject({ path, user, follow: queryBoolean.optional() }),
    responses: { 200: stream("application/x-tar") },
  }),
  writeArchive: route({
    ...file,
    method: "PUT",
    path: "/v1/sandboxes/{id}/archive",
    scope: "exec",
    summary: "Unpack a tar stream under a directory.",
    query: z.strictObject({ path, user }),
    upload: "application/x-tar",
    responses: { 200: json(z.object({ files: z.number(), bytes: z.number() })) },
  }),
} as const;
