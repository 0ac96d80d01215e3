import { covers, type Grant, type Route, routes, scopes } from "@torpor/contract";
import { owner } from "@torpor/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ tcp: {} });
});
afterAll(() => server[Symbol.asyncDispose]());

const all = Object.entries<Route>(routes).map(([name, route]) => ({ name, route, need: route.scope }));
const guarded = all.filter(({ need }) => need !== "public");

test("every route says what it needs, and what is open to all is known by name", () => {
  for (const { name, need } of all) expect(["*", "any", "public", ...scopes], name).toContain(need);
  const open = all.filter(({ need }) => need === "public").map(({ name }) => name);
  expect(open.sort()).toEqual(["callWake", "callWakeByGet", "callWakeByPut", "health", "healthz", "login", "logout"]);
});

describe.each(guarded)("$route.method $route.path", ({ name, route, need }) => {
  test("needs a token", async () => {
    const answer = await ask(route, undefined);
    expect(answer).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } }, headers: { "www-authenticate": "Bearer" } });
  });

  if (need !== "any")
    test(`is refused to a token that has everything but ${need}, by its name`, async () => {
      const others = scopes.filter((scope) => scope !== need);
      const answer = await ask(route, await tokenWith(others));
      expect(answer).toMatchObject({ status: 403, body: { error: { code: "forbidden", details: { scope: need, scopes: others } } } });
      expect(answer.body.error?.message).toContain(`has not the scope ${need}, which ${route.method} `);
    });

  test("is open to a token that has just that", async () => {
    const answer = await ask(route, await tokenWith([need === "any" ? "metrics" : (need as Grant)]));
    expect([401, 403], `${name}: ${answer.text}`).not.toContain(answer.status);
  });
});

test("what reads files of the host is for tokens of all teams", async () => {
  const json = { path: "/etc/shadow", reference: "x" };
  const own = await tokenWith(["*"], "default");
  const answer = await call(server.url, "/v1/images/import", { method: "POST", headers: { authorization: `Bearer ${own}` }, json });
  expect(answer).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("is for those of all teams") } } });
});

test("a grant covers its kind and nothing else", () => {
  expect(covers(["sandbox:*"], "sandbox:delete")).toBe(true);
  expect(covers(["sandbox:*"], "snapshot")).toBe(false);
  expect(covers(["secret:*"], "sandbox:read")).toBe(false);
  expect(covers([...scopes], "*")).toBe(false);
  expect(covers(["*"], "exec")).toBe(true);
  expect(covers([], "any")).toBe(true);
});

async function tokenWith(granted: readonly Grant[], team: string | null = null): Promise<string> {
  return (await server.served.lifecycle.access.createToken(owner, { scopes: [...granted], team })).secret;
}

/** With ids of things that are not there. */
function ask(route: Route, token: string | undefined) {
  const ids: Readonly<Record<string, string>> = {
    id: "nobody",
    nid: "nobody",
    tid: "nobody",
    oid: "op_aaaaaaaaaaaaaaaa",
    sid: "se_aaaaaaaaaaaaaaaa",
    wid: `${route.tag === "wakes" ? "wk" : "wh"}_aaaaaaaaaaaaaaaa`,
  };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key] ?? "missing");
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return call(server.url, path, { method: route.method, headers, ...(route.body === undefined ? {} : { json: {} }) });
}
