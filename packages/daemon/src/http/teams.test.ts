import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { type Grant, type Route, routes } from "@torpor/contract";
import { owner } from "@torpor/core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Answer, type CallOptions, call, startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
let red: Member;
let blue: Member;
let everybody: Member;
const theirs: Record<string, string> = {};
beforeAll(async () => {
  server = await startTestServer({ tcp: {} });
  [red, blue, everybody] = await Promise.all([member("red"), member("blue"), member(null)]);
  const made = await red("/v1/sandboxes", { method: "POST", json: { image: "debian", name: "reds" } });
  const snapshot = await red("/v1/sandboxes/reds/snapshots", { method: "POST", json: { name: "reds-kept", memory: false } });
  const webhook = await red("/v1/webhooks", { method: "POST", json: { url: "http://127.0.0.1:1/hook" } });
  expect([made, snapshot, webhook].map(({ status }) => status)).toEqual([201, 201, 201]);
  Object.assign(theirs, {
    id: "reds",
    nid: "reds-kept",
    oid: (made.body.operation as { id: string }).id,
    wid: (webhook.body.webhook as { id: string }).id,
    sid: "se_aaaaaaaaaaaaaaaa",
    port: "80",
    iid: "python",
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const naming = Object.entries<Route>(routes)
  .filter(([name, { path, scope }]) => /\{(id|nid|oid|wid)\}/.test(path) && scope !== "public" && name !== "revokeToken")
  .map(([name, route]) => ({ name, route }));

describe.each(naming)("what another team has is as if it were not there: $name", ({ route }) => {
  test("by its name or id", async () => {
    const path = route.path.replaceAll(
      /\{(\w+)\}/g,
      (_, key: string) => (key === "wid" && route.tag === "wakes" ? "wk_aaaaaaaaaaaaaaaa" : theirs[key]) ?? "x",
    );
    const body = route.body === undefined ? {} : { json: bodies[route.path] ?? {} };
    const query = queries[route.path] ?? "";
    const answer = await blue(path + query, { method: route.method, ...body });
    expect(answer, answer.text).toMatchObject({ status: 404, body: { error: { code: expect.stringMatching(/_not_found$/) } } });
    expect(answer.text).not.toContain("red ");
  });
});

test("live figures are of one's own", async () => {
  const { body } = await blue("/v1/stats");
  expect((body.sandboxes as { name: string }[]).map(({ name }) => name)).not.toContain("reds");
  expect(((await red("/v1/stats")).body.sandboxes as { name: string }[]).map(({ name }) => name)).toContain("reds");
});

test("nothing of theirs was changed by all that", async () => {
  expect((await red("/v1/sandboxes/reds")).body).toMatchObject({ state: "running", team: "red" });
  expect((await red("/v1/snapshots/reds-kept")).body).toMatchObject({ team: "red" });
});

test.each([
  ["a sandbox from another team's snapshot", "POST", "/v1/sandboxes", { snapshot: "reds-kept" }],
  ["a webhook for another team's sandbox", "POST", "/v1/webhooks", { url: "http://127.0.0.1:1/", sandbox: "reds" }],
  ["another team's family", "GET", "/v1/tree?sandbox=reds", undefined],
  ["another team's events", "GET", "/v1/events?sandbox=reds", undefined],
] as const)("there is no way to %s", async (_, method, path, json) => {
  expect(await blue(path, { method, ...(json === undefined ? {} : { json }) })).toMatchObject({ status: 404 });
});

test("nor to the difference to another team's sandbox, or its state by a restore", async () => {
  await blue("/v1/sandboxes", { method: "POST", json: { image: "debian", name: "blues" } });
  expect(await blue("/v1/sandboxes/blues/diff?with=reds")).toMatchObject({ status: 404 });
  expect(await blue("/v1/sandboxes/blues/restore", { method: "POST", json: { snapshot: "reds-kept" } })).toMatchObject({ status: 404 });
});

test("lists have what a team has, and all of it for those of all teams", async () => {
  const names = async (who: Member) => ({
    sandboxes: list((await who("/v1/sandboxes")).body.sandboxes, "name"),
    snapshots: list((await who("/v1/snapshots")).body.snapshots, "name"),
    webhooks: list((await who("/v1/webhooks")).body.webhooks, "team"),
    tree: list((await who("/v1/tree")).body.members, "name"),
    events: [...new Set(list((await who("/v1/events?after=0")).body.events, "sandboxId"))].length,
  });
  expect(await names(red)).toEqual({ sandboxes: ["reds"], snapshots: ["reds-kept"], webhooks: ["red"], tree: ["reds"], events: 1 });
  expect(await names(blue)).toEqual({ sandboxes: ["blues"], snapshots: [], webhooks: [], tree: ["blues"], events: 1 });
  expect(await names(everybody)).toMatchObject({ sandboxes: ["reds", "blues"], snapshots: ["reds-kept"], webhooks: ["red"], events: 2 });
});

test("a fork and what is made from a snapshot are of the team, and the owner's sandboxes are of the default one", async () => {
  await red("/v1/sandboxes/reds/fork", { method: "POST", json: { name: "reds-fork" } });
  await red("/v1/sandboxes", { method: "POST", json: { snapshot: "reds-kept", name: "reds-again" } });
  await server.served.lifecycle.create({ image: "debian", name: "owners" });
  for (const name of ["reds-fork", "reds-again"]) expect((await red(`/v1/sandboxes/${name}`)).body).toMatchObject({ team: "red" });
  expect((await everybody("/v1/sandboxes/owners")).body).toMatchObject({ team: "default" });
  expect(await blue("/v1/sandboxes/reds-fork")).toMatchObject({ status: 404 });
});

test("the stream of events has a team's own, to the last one of a sandbox", async () => {
  const { secret } = await server.served.lifecycle.access.createToken(owner, { team: "blue" });
  const stream = await fetch(`${server.url}/v1/events?type=sandbox.created,sandbox.removed`, {
    headers: { authorization: `Bearer ${secret}`, accept: "text/event-stream" },
  });
  for (const who of [red, blue]) {
    const { body } = await who("/v1/sandboxes", { method: "POST", json: { image: "debian" } });
    await who(`/v1/sandboxes/${(body.sandbox as { id: string }).id}?force=true`, { method: "DELETE" });
  }
  const types: string[] = [];
  const sandboxes = new Set<string>();
  const input = Readable.fromWeb(stream.body as never);
  onTestFinished(() => void input.destroy());
  for await (const line of createInterface({ input })) {
    if (!line.startsWith("data: ")) continue;
    const { type, sandboxId } = JSON.parse(line.slice("data: ".length)) as { type: string; sandboxId: string };
    types.push(type);
    sandboxes.add(sandboxId);
    if (types.length === 2) break;
  }
  expect(types).toEqual(["sandbox.created", "sandbox.removed"]);
  expect(sandboxes.size).toBe(1);
});

test("the same idempotency key of two teams are two calls", async () => {
  const once = (who: Member) => who("/v1/sandboxes", { method: "POST", json: { image: "debian" }, headers: { "idempotency-key": "same" } });
  const ids = [await once(red), await once(red), await once(blue)].map(({ body }) => (body.sandbox as { id: string }).id);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
});

test("the history of a removed sandbox is for those of all teams", async () => {
  const { body } = await red("/v1/sandboxes", { method: "POST", json: { image: "debian" } });
  const { id } = body.sandbox as { id: string };
  await red(`/v1/sandboxes/${id}?force=true`, { method: "DELETE" });
  for (const path of [
    `/v1/sandboxes/${id}/operations`,
    `/v1/sandboxes/${id}/events`,
    `/v1/operations/${(body.operation as { id: string }).id}`,
  ]) {
    expect(await blue(path), path).toMatchObject({ status: 404 });
    expect(await everybody(path), path).toMatchObject({ status: 200 });
  }
});

test("tokens are made, seen and revoked within a team", async () => {
  const made = await red("/v1/tokens", { method: "POST", json: { name: "reds-token" } });
  expect(made.body).toMatchObject({ token: { team: "red" } });
  expect(list((await blue("/v1/tokens")).body.tokens, "team").every((team) => team === "blue")).toBe(true);
  expect(await blue("/v1/tokens/reds-token", { method: "DELETE" })).toMatchObject({
    status: 404,
    body: { error: { code: "token_not_found" } },
  });
  for (const team of ["red", null]) {
    expect(await blue("/v1/tokens", { method: "POST", json: { team } })).toMatchObject({
      status: 403,
      body: { error: { code: "forbidden" } },
    });
  }
  expect(await red("/v1/tokens/reds-token", { method: "DELETE" })).toMatchObject({ status: 204 });
});

type Member = (path: string, options?: CallOptions) => Promise<Answer>;

async function member(team: string | null): Promise<Member> {
  const scopes: Grant[] = ["*"];
  const { secret } = await server.served.lifecycle.access.createToken(owner, { scopes, team });
  return (path, { headers, ...options } = {}) =>
    call(server.url, path, { ...options, headers: { ...headers, authorization: `Bearer ${secret}` } });
}

/** What a call has to have before anything is looked up. */
const bodies: Readonly<Record<string, unknown>> = {
  "/v1/sandboxes/{id}/exec": { argv: ["true"] },
  "/v1/sandboxes/{id}/sessions": { argv: ["true"] },
  "/v1/sandboxes/{id}/sessions/{sid}/signal": { signal: "TERM" },
  "/v1/sandboxes/{id}/sessions/{sid}/resize": { rows: 1, columns: 1 },
  "/v1/sandboxes/{id}/files/directories": { path: "/a" },
  "/v1/sandboxes/{id}/files/move": { from: "/a", to: "/b" },
  "/v1/sandboxes/{id}/restore": { snapshot: "reds-kept" },
  "/v1/sandboxes/{id}/rebase": { image: "debian" },
  "/v1/sandboxes/{id}/wakes": { afterMs: 1000 },
  "/v1/sandboxes/{id}/ports/{port}": {},
  "/v1/sandboxes/{id}/interpreters": { language: "python" },
  "/v1/sandboxes/{id}/interpreters/{iid}/run": { code: "1" },
};
const queries: Readonly<Record<string, string>> = Object.fromEntries(
  ["files", "files/stat", "files/list", "files/watch", "archive"].map((path) => [`/v1/sandboxes/{id}/${path}`, "?path=/a"]),
);

function list(records: unknown, field: string): unknown[] {
  return (records as Record<string, unknown>[]).map((record) => record[field]);
}
