import { routes } from "@torpor/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.served.lifecycle.create({ image: "debian", name: "base" });
});
afterAll(() => server[Symbol.asyncDispose]());

type Method = "POST" | "PUT" | "PATCH" | "DELETE";
async function ask(method: Method, url: string, key: string, payload?: object | Buffer) {
  const json = payload === undefined || payload instanceof Buffer ? {} : { "content-type": "application/json" };
  const answer = await server.app.inject({
    method,
    url,
    headers: { "idempotency-key": key, ...json },
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.body === "" ? undefined : answer.json() };
}
const files = "/v1/sandboxes/base/files";
const read = async (path: string) => (await server.app.inject({ url: `${files}?path=${path}` })).body;

test("every call that changes something takes a key, but those that say why not", () => {
  const without = Object.entries(routes).filter(([, { method, keyed }]) => method !== "GET" && keyed === "none");
  expect(without.map(([name]) => name).sort()).toEqual([
    "callWake",
    "callWakeByPut",
    "createLoginCode",
    "createToken",
    "login",
    "logout",
    "writeSession",
  ]);
  expect(Object.values(routes).filter(({ method, keyed }) => method === "GET" && keyed !== "none")).toEqual([]);
});

describe("A01: a call with a key is done once", () => {
  test("a move that is asked for again answers as before, and moves nothing", async () => {
    await ask("PUT", `${files}?path=/a`, "w1", Buffer.from("first"));
    const move = () => ask("POST", `${files}/move`, "m1", { from: "/a", to: "/b" });
    const first = await move();
    expect(first).toMatchObject({ status: 200, body: { path: "/b" } });
    await ask("PUT", `${files}?path=/a`, "w2", Buffer.from("second"));
    expect(await move()).toEqual(first);
    expect(await read("/a")).toBe("second");
    expect(await ask("POST", `${files}/move`, "m1", { from: "/a", to: "/c" })).toMatchObject({
      status: 409,
      body: { error: { code: "idempotency_conflict" } },
    });
    expect((await ask("POST", `${files}/move`, "m2", { from: "/a", to: "/c" })).status).toBe(200);
  });

  test("ten at once are one", async () => {
    const wakes = await Promise.all(
      Array.from({ length: 10 }, () => ask("POST", "/v1/sandboxes/base/wakes", "k1", { url: true, signed: true })),
    );
    expect(new Set(wakes.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect((await server.app.inject({ url: "/v1/sandboxes/base/wakes" })).json().wakes).toHaveLength(1);
    const made = await Promise.all(Array.from({ length: 10 }, () => ask("POST", `${files}/directories`, "d1", { path: "/dir" })));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
  });

  test("an upload is known by its content", async () => {
    const put = (content: string) => ask("PUT", `${files}?path=/up`, "u1", Buffer.from(content));
    const first = await put("one");
    expect(first).toMatchObject({ status: 200, body: { size: 3 } });
    await ask("PUT", `${files}?path=/up`, "u2", Buffer.from("later"));
    expect(await put("one")).toEqual(first);
    expect(await read("/up")).toBe("later");
    expect((await put("two")).status).toBe(409);
  });

  test("a refusal is not remembered: it has changed nothing", async () => {
    const remove = () => ask("DELETE", `${files}?path=/late`, "r1");
    expect((await remove()).status).toBe(404);
    await ask("PUT", `${files}?path=/late`, "u3", Buffer.from("x"));
    expect(await remove()).toEqual({ status: 204, body: undefined });
    expect(await remove()).toEqual({ status: 204, body: undefined });
  });

  test("settings and images too", async () => {
    for (const [method, url, body] of [
      ["PATCH", "/v1/sandboxes/base", { ttlMs: 60_000 }],
      ["POST", "/v1/sandboxes/base/refresh", {}],
      ["POST", "/v1/images/pull", { reference: "alpine" }],
    ] as const) {
      const first = await ask(method, url, `${method} ${url}`.replaceAll(/[^a-z]/g, ""), body);
      expect(first.status, url).toBe(200);
      expect(await ask(method, url, `${method} ${url}`.replaceAll(/[^a-z]/g, ""), body)).toEqual(first);
    }
  });
});
