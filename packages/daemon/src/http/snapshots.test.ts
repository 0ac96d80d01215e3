import { type ErrorCode, errorCatalogue } from "@torpor/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await call("POST", "/v1/sandboxes", { image: "debian", name: "base" });
  await call("POST", "/v1/sandboxes/base/snapshots", { name: "kept", labels: { a: "1" } });
  await call("POST", "/v1/sandboxes/base/snapshots", { name: "pinned", pinned: true, memory: false });
});
afterAll(async () => server[Symbol.asyncDispose]());

type Method = "GET" | "POST" | "PATCH" | "DELETE";

async function call(method: Method, url: string, payload?: object, headers: Record<string, string> = {}) {
  const answer = await server.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
  return { status: answer.statusCode, body: answer.json() };
}

test("a snapshot is made, listed, changed and removed; sandboxes are made from it, and one is put back to it", async () => {
  const made = await call("POST", "/v1/sandboxes/base/snapshots", { name: "mine" }, { "idempotency-key": "k" });
  expect(made).toMatchObject({
    status: 201,
    body: { operation: { kind: "snapshot", result: { snapshot: { name: "mine" }, memory: true } } },
  });
  // A retry captures nothing again.
  expect((await call("POST", "/v1/sandboxes/base/snapshots", { name: "mine" }, { "idempotency-key": "k" })).body).toEqual(made.body);
  const listed = (await call("GET", "/v1/snapshots")).body.snapshots as { name: string }[];
  expect(listed.map(({ name }) => name)).toEqual(["kept", "pinned", "mine"]);
  const { id } = made.body.operation.result.snapshot as { id: string };
  expect((await call("GET", `/v1/snapshots/${id}`)).body).toMatchObject({ name: "mine", source: { name: "base" }, failure: null });
  const changed = await call("PATCH", "/v1/snapshots/mine", { labels: { a: "b" }, expiresAt: "2100-01-01T00:00:00.000Z" });
  expect(changed).toMatchObject({ status: 200, body: { labels: { a: "b" }, expiresAt: "2100-01-01T00:00:00.000Z" } });

  const three = await call("POST", "/v1/sandboxes", { snapshot: "mine", name: "kid", count: 3 });
  expect(three).toMatchObject({ status: 201, body: { sandbox: { name: "kid-1", snapshotId: id }, siblings: [{}, {}] } });
  await call("POST", "/v1/sandboxes/kid-2/pause", {});
  expect(await call("POST", "/v1/sandboxes/kid-2/restore", { snapshot: id })).toMatchObject({
    status: 200,
    body: { operation: { kind: "restore", result: { memory: true } }, sandbox: { state: "paused" } },
  });
  await call("POST", "/v1/sandboxes/kid-3/stop", {});
  const rebased = await call("POST", "/v1/sandboxes/kid-3/rebase", { image: "python:3.12" });
  expect(rebased).toMatchObject({ status: 200, body: { sandbox: { image: { reference: "python:3.12" } } } });
  expect(await call("POST", "/v1/sandboxes/kid-3/rollback")).toMatchObject({
    status: 200,
    body: { sandbox: { image: { reference: "debian" } } },
  });
  expect(await call("DELETE", "/v1/snapshots/mine")).toMatchObject({ status: 200, body: { id } });
  expect(await call("GET", "/v1/snapshots/mine")).toMatchObject({ status: 404, body: { error: { code: "snapshot_not_found" } } });
});

describe("bad input is a clear refusal, and changes nothing", () => {
  const wrong: [string, Method, string, object | undefined, ErrorCode, RegExp][] = [
    ["image and snapshot", "POST", "/v1/sandboxes", { image: "debian", snapshot: "kept" }, "invalid_request", /not both/],
    ["a count of an image", "POST", "/v1/sandboxes", { image: "debian", count: 2 }, "invalid_request", /count and memory are for/],
    ["resources of a snapshot", "POST", "/v1/sandboxes", { snapshot: "kept", resources: { cpus: 1 } }, "invalid_request", /has its own/],
    ["N over the limit", "POST", "/v1/sandboxes", { snapshot: "kept", count: 101 }, "invalid_request", /count/],
    [
      "a name too long with its number",
      "POST",
      "/v1/sandboxes",
      { snapshot: "kept", count: 2, name: "x".repeat(62) },
      "invalid_name",
      /xx-1/,
    ],
    ["a name taken among several", "POST", "/v1/sandboxes", { snapshot: "kept", name: "base" }, "name_taken", /base/],
    ["a snapshot that there is not", "POST", "/v1/sandboxes", { snapshot: "nope" }, "snapshot_not_found", /nope/],
    [
      "memory of a snapshot without",
      "POST",
      "/v1/sandboxes",
      { snapshot: "pinned", memory: true },
      "checkpoint_incompatible",
      /files only/,
    ],
    ["a snapshot of nothing", "POST", "/v1/sandboxes/nope/snapshots", {}, "sandbox_not_found", /nope/],
    ["a snapshot's name that is taken", "POST", "/v1/sandboxes/base/snapshots", { name: "kept" }, "name_taken", /another snapshot .* kept/],
    ["a snapshot's name like an id", "POST", "/v1/sandboxes/base/snapshots", { name: "sn_x" }, "invalid_name", /id/],
    ["a time in the past", "POST", "/v1/sandboxes/base/snapshots", { expiresAt: "2001-01-01T00:00:00Z" }, "invalid_request", /future/],
    ["a time that is none", "POST", "/v1/sandboxes/base/snapshots", { expiresAt: "soon" }, "invalid_request", /expiresAt/],
    ["an unknown field", "PATCH", "/v1/snapshots/kept", { name: "other" }, "invalid_request", /name/],
    ["a label that is too long", "PATCH", "/v1/snapshots/kept", { labels: { a: "x".repeat(256) } }, "invalid_request", /labels/],
    ["the expiry in the past", "PATCH", "/v1/snapshots/kept", { expiresAt: "2001-01-01T00:00:00Z" }, "invalid_request", /future/],
    ["removal of a pinned one", "DELETE", "/v1/snapshots/pinned", undefined, "snapshot_pinned", /pinned/],
    ["removal of none", "DELETE", "/v1/snapshots/nope", undefined, "snapshot_not_found", /nope/],
    ["a path as id", "GET", "/v1/snapshots/..%2Fx", undefined, "invalid_request", /id/],
    ["restore of a running one", "POST", "/v1/sandboxes/base/restore", { snapshot: "kept" }, "sandbox_not_paused", /base is running/],
    ["restore to nothing", "POST", "/v1/sandboxes/base/restore", {}, "invalid_request", /snapshot/],
    ["rebase of a running one", "POST", "/v1/sandboxes/base/rebase", { image: "python:3.12" }, "sandbox_not_paused", /base is running/],
    [
      "a rollback that is kept for no time",
      "POST",
      "/v1/sandboxes/base/rebase",
      { image: "x", rollbackMs: 0 },
      "invalid_request",
      /rollbackMs/,
    ],
    ["rollback of what was never rebased", "POST", "/v1/sandboxes/base/rollback", undefined, "snapshot_not_found", /base/],
  ];
  test.each(wrong)("%s", async (_title, method, url, payload, code, message) => {
    const everything = async () => [(await call("GET", "/v1/sandboxes")).body, (await call("GET", "/v1/snapshots")).body];
    const before = await everything();
    const { status, body } = await call(method, url, payload);
    expect(body.error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(status).toBe(errorCatalogue[code].status);
    expect(await everything()).toEqual(before);
  });
});
