import { owner } from "@torpor/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, startTestServer, type TestServer, upgrade } from "../testing/index.ts";

let server: TestServer;
let cookie: string;
beforeAll(async () => {
  server = await startTestServer({ tcp: { publicUrl: new URL("https://torpor.example"), allowHosts: ["known.test"] } });
  await server.served.lifecycle.create({ image: "debian", name: "box" });
  cookie = await signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

const terminal = "/v1/sandboxes/box/exec";
const sessions = async () => (await server.served.lifecycle.guest("box")).sessions.list();

describe("Y10: a foreign page's WebSocket with the user's cookie is refused before a process starts", () => {
  const foreign: [string, Record<string, string>][] = [
    ["a foreign page", { origin: "https://evil.test" }],
    ["another port of this host", { origin: "http://127.0.0.1:1" }],
    ["the same host by another scheme", { origin: "https://127.0.0.1" }],
    ["a name that looks like ours", { origin: "https://torpor.example.evil.test" }],
    ["the origin null", { origin: "null" }],
    ["no origin", {}],
  ];

  test.each(foreign)("%s", async (_, headers) => {
    for (const path of [terminal, "/v1/sandboxes/box/sessions/se_aaaaaaaaaaaaaaaa/attach"]) {
      const answer = await upgrade(server.url, path, { ...headers, cookie });
      expect(answer).toMatchObject({
        status: 403,
        body: { error: { code: "forbidden", message: expect.stringContaining("a browser's cookie") } },
      });
    }
    expect(await sessions()).toEqual([]);
  });

  test.each(foreign)("%s changes nothing by a plain call either", async (_, headers) => {
    for (const [method, path] of [
      ["POST", "/v1/sandboxes/box/pause"],
      ["DELETE", "/v1/sandboxes/box?force=true"],
      ["POST", "/v1/login-codes"],
    ] as const) {
      const answer = await call(server.url, path, { method, headers: { ...headers, cookie }, ...(method === "POST" ? { json: {} } : {}) });
      expect(answer).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
    }
    expect(await server.served.lifecycle.get("box")).toMatchObject({ state: "running" });
  });

  test("nor does a foreign page read anything: that could wake a sandbox", async () => {
    const foreignReads = [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.test" },
      { origin: "null" },
    ];
    for (const headers of foreignReads) {
      expect(await call(server.url, "/v1/sandboxes/box", { headers: { ...headers, cookie } })).toMatchObject({ status: 403 });
    }
    for (const headers of [{}, { "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, { origin: server.url }]) {
      expect(await call(server.url, "/v1/sandboxes/box", { headers: { ...headers, cookie } })).toMatchObject({ status: 200 });
    }
  });

  test("our own page may: at the address that it came to, and at the public one", async () => {
    for (const origin of [server.url, "https://torpor.example"]) {
      expect(await upgrade(server.url, terminal, { origin, cookie })).toMatchObject({ status: 101 });
      const renewed = await call(server.url, "/v1/sandboxes/box/refresh", { method: "POST", headers: { origin, cookie }, json: {} });
      expect(renewed.status).not.toBe(403);
    }
  });

  test("a program with a token needs no origin, and has no use of one", async () => {
    const { secret } = await server.served.lifecycle.access.createToken(owner, {});
    for (const headers of [{}, { origin: "https://evil.test" }]) {
      expect(await upgrade(server.url, terminal, { ...headers, authorization: `Bearer ${secret}` })).toMatchObject({ status: 101 });
    }
    expect(await upgrade(server.url, terminal)).toMatchObject({ status: 401 });
  });
});

describe("the name by which it is called", () => {
  const port = () => new URL(server.url).port;

  test.each(["evil.test", "127.0.0.1.evil.test", "10.0.0.1", "localhost.evil.test", "a b", "user@127.0.0.1"])(
    "%s is refused",
    async (name) => {
      for (const path of ["/v1/health", "/v1/whoami", "/"]) {
        const answer = await call(server.url, path, { headers: { host: `${name}:${port()}` } });
        expect(answer, path).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("does not know") } } });
      }
    },
  );

  test.each(["127.0.0.1", "localhost", "[::1]", "known.test", "torpor.example", "KNOWN.test"])("%s is fine", async (name) => {
    expect(await call(server.url, "/v1/health", { headers: { host: `${name}:${port()}` } })).toMatchObject({ status: 200 });
  });

  test("an address is fine where it listens on all of them", async () => {
    await using open = await startTestServer({ tcp: {}, host: "0.0.0.0" });
    const url = open.url.replace("0.0.0.0", "127.0.0.1");
    expect(await call(url, "/v1/health", { headers: { host: "192.168.7.7:80" } })).toMatchObject({ status: 200 });
    expect(await call(url, "/v1/health", { headers: { host: "evil.test" } })).toMatchObject({ status: 403 });
  });
});

async function signIn(): Promise<string> {
  const { code } = await server.served.lifecycle.access.createLoginCode(owner);
  const answer = await call(server.url, "/v1/login", { method: "POST", headers: { origin: server.url }, json: { code } });
  return (answer.headers["set-cookie"]?.[0] ?? "").split(";")[0] as string;
}
