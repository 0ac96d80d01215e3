import { Writable } from "node:stream";
import type { CreatedToken } from "@torpor/contract";
import { owner } from "@torpor/core";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, call, startTestServer, type TestServer, upgrade } from "../testing/index.ts";

let server: TestServer;
const log: string[] = [];
beforeAll(async () => {
  const logger = pino({ level: "trace" }, new Writable({ write: (chunk, _, done) => done(void log.push(String(chunk))) }));
  server = await startTestServer({ tcp: { logger } });
  await server.served.lifecycle.create({ image: "debian", name: "box" });
});
afterAll(() => server[Symbol.asyncDispose]());

const access = () => server.served.lifecycle.access;
const login = (json: unknown, headers: Record<string, string> = {}) => call(server.url, "/v1/login", { method: "POST", json, headers });
const whoami = (cookie: string) => call(server.url, "/v1/whoami", { headers: { cookie } });

describe("a code", () => {
  test("signs a browser in once, by a cookie that scripts and other sites don't get", async () => {
    const { code, expiresAt } = await access().createLoginCode(owner);
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(5 * 60_000);
    const answer = await login({ code }, { origin: server.url });
    expect(answer).toMatchObject({ status: 200, body: { via: "cookie", token: null, team: null, scopes: ["*"] } });
    expect(answer.headers["set-cookie"]).toEqual([
      expect.stringMatching(/^torpor_test=[a-z2-7]{32}; Path=\/; Expires=[^;]+ GMT; HttpOnly; SameSite=Strict$/),
    ]);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(await whoami(cookieOf(answer))).toMatchObject({ status: 200, body: { via: "cookie" } });
    const again = await login({ code });
    expect(again).toMatchObject({
      status: 401,
      body: {
        error: {
          code: "unauthorized",
          message: "the link is not known: it was used already, or has expired",
          hint: expect.stringContaining("torpor open"),
        },
      },
    });
    expect(again.headers["set-cookie"]).toBeUndefined();
  });

  test("counts once also when two use it at the same instant", async () => {
    const { code } = await access().createLoginCode(owner);
    const answers = await Promise.all([login({ code }), login({ code }), login({ code })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  test("is no token, and a token is none", async () => {
    const { code } = await access().createLoginCode(owner);
    const { secret } = await access().createToken(owner, {});
    expect(await call(server.url, "/v1/whoami", { headers: { authorization: `Bearer ${code}` } })).toMatchObject({ status: 401 });
    expect(await login({ code: secret })).toMatchObject({ status: 401 });
    expect(await login({ code, token: secret })).toMatchObject({ status: 400 });
    expect(await login({})).toMatchObject({ status: 400 });
  });

  test("is not taken from a foreign page", async () => {
    const { code } = await access().createLoginCode(owner);
    expect(await login({ code }, { origin: "https://evil.test" })).toMatchObject({ status: 403 });
    expect(await login({ code })).toMatchObject({ status: 200 });
  });
});

describe("a browser that a token signed in", () => {
  const signIn = async (
    request: Parameters<ReturnType<typeof access>["createToken"]>[1] = {},
  ): Promise<CreatedToken & { cookie: string }> => {
    const created = await access().createToken(owner, request);
    return { ...created, cookie: cookieOf(await login({ token: created.secret })) };
  };

  test("may do what the token may, and is shown as it", async () => {
    const { cookie, token } = await signIn({ scopes: ["sandbox:read"], team: "a" });
    expect((await whoami(cookie)).body).toMatchObject({
      via: "cookie",
      token: { id: token.id, name: token.name },
      scopes: ["sandbox:read"],
      team: "a",
    });
    const removal = await call(server.url, "/v1/sandboxes/box", { method: "DELETE", headers: { cookie, origin: server.url } });
    expect(removal).toMatchObject({ status: 403, body: { error: { details: { scope: "sandbox:delete" } } } });
  });

  test("needs no cookie for a WebSocket: its token goes along as a sub-protocol, which no answer repeats", async () => {
    const { secret } = await access().createToken(owner, {});
    const open = async (protocols: string[]) => {
      const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/sandboxes/box/exec`, protocols);
      const outcome = await new Promise((resolve) => {
        socket.addEventListener("open", () => resolve(socket.protocol));
        socket.addEventListener("error", () => resolve("refused"));
      });
      socket.close();
      return outcome;
    };
    expect(await open(["torpor", `torpor.bearer.${secret}`])).toBe("torpor");
    expect(await open(["torpor", `torpor.bearer.${secret.slice(0, -1)}`])).toBe("refused");
    expect(await open(["torpor"])).toBe("refused");
    // Only where a header can't be.
    const plain = { "sec-websocket-protocol": `torpor.bearer.${secret}` };
    expect(await call(server.url, "/v1/whoami", { headers: plain })).toMatchObject({ status: 401 });
    expect(log.join("")).not.toContain(secret);
  });

  test("is signed out when the token is revoked, and what it has open is cut", async () => {
    const { cookie, token, secret } = await signIn();
    const stream = await fetch(`${server.url}/v1/events`, { headers: { cookie, accept: "text/event-stream" } });
    const other = await fetch(`${server.url}/v1/events`, { headers: { authorization: `Bearer ${secret}`, accept: "text/event-stream" } });
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/v1/sandboxes/box/exec`, {
      headers: { authorization: `Bearer ${secret}` },
    } as never);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
    await access().revokeToken(owner, token.name);
    await closed;
    await expect(drain(stream)).rejects.toThrow();
    await expect(drain(other)).rejects.toThrow();
    expect(await whoami(cookie)).toMatchObject({
      status: 401,
      body: { error: { message: "the browser's session is not known: it was ended" } },
    });
    expect(await login({ token: secret })).toMatchObject({ status: 401 });
  });

  test("can sign out by itself: from its own page", async () => {
    const { cookie } = await signIn();
    const logout = (headers: Record<string, string>) => call(server.url, "/v1/logout", { method: "POST", headers: { cookie, ...headers } });
    expect(await logout({ origin: "https://evil.test" })).toMatchObject({ status: 403 });
    expect(await whoami(cookie)).toMatchObject({ status: 200 });
    const out = await logout({ origin: server.url });
    expect(out).toMatchObject({ status: 204 });
    expect(out.headers["set-cookie"]).toEqual([expect.stringMatching(/^torpor_test=; .*Expires=Thu, 01 Jan 1970/)]);
    expect(await whoami(cookie)).toMatchObject({ status: 401 });
    expect(await upgrade(server.url, "/v1/sandboxes/box/exec", { cookie, origin: server.url })).toMatchObject({ status: 401 });
  });

  test("is signed in no longer than the token counts", async () => {
    const expiresAt = new Date(Date.now() + 60_000).toISOString();
    const { cookie } = await signIn({ expiresAt });
    expect((await whoami(cookie)).body).toMatchObject({ expiresAt });
    const { code } = (await call(server.url, "/v1/login-codes", { method: "POST", headers: { cookie, origin: server.url } })).body as {
      code: string;
    };
    expect((await whoami(cookieOf(await login({ code })))).body).toMatchObject({ expiresAt });
  });
});

test("a cookie is kept from http where browsers use https", async () => {
  await using secure = await startTestServer({ tcp: { publicUrl: new URL("https://torpor.example") } });
  const { code } = await secure.served.lifecycle.access.createLoginCode(owner);
  const answer = await call(secure.url, "/v1/login", { method: "POST", json: { code }, headers: { host: "torpor.example" } });
  expect(answer.headers["set-cookie"]).toEqual([expect.stringContaining("; HttpOnly; Secure; SameSite=Strict")]);
});

test("who fails often has to wait, and others do not", async () => {
  await using limited = await startTestServer({ tcp: { publicUrl: new URL("https://torpor.example") } });
  const attempt = (address: string, code = "a".repeat(32)) =>
    call(limited.url, "/v1/login", { method: "POST", json: { code }, headers: { "x-forwarded-for": `6.6.6.6, ${address}` } });
  for (let count = 0; count < 10; count++) expect(await attempt("10.0.0.1")).toMatchObject({ status: 401 });
  const { code } = await limited.served.lifecycle.access.createLoginCode(owner);
  const refused = await attempt("10.0.0.1", code);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(await attempt("10.0.0.2", code)).toMatchObject({ status: 200 });
});

test("at the socket nobody signs in: whoever opens it is the owner", async () => {
  const inject = (method: "GET" | "POST", url: string, payload?: object) =>
    server.app.inject({ method, url, ...(payload === undefined ? {} : { payload }) });
  expect((await inject("GET", "/v1/whoami")).json()).toEqual({ via: "socket", token: null, team: null, scopes: ["*"], expiresAt: null });
  expect((await inject("POST", "/v1/login", { code: "a" })).statusCode).toBe(400);
});

test("no secret is in the log, in an address or in a list", async () => {
  const { secret, token } = await access().createToken(owner, { name: "quiet" });
  const { code } = await access().createLoginCode(owner);
  const cookie = cookieOf(await login({ token: secret }));
  await login({ code });
  await login({ code });
  await call(server.url, "/v1/sandboxes/nobody", { headers: { authorization: `Bearer ${secret}` } });
  await call(server.url, "/v1/sandboxes/%zz", { headers: { authorization: `Bearer ${secret}` } });
  await upgrade(server.url, "/v1/sandboxes/box/exec", { cookie });
  const listed = await call(server.url, "/v1/tokens", { headers: { authorization: `Bearer ${secret}` } });
  expect(listed.text).toContain(token.id);
  expect(log.length).toBeGreaterThan(0);
  for (const text of [log.join(""), listed.text]) {
    for (const hidden of [secret, secret.slice("torpor_".length), code, cookie.split("=")[1] as string]) expect(text).not.toContain(hidden);
  }
});

function cookieOf(answer: Answer): string {
  const [first = ""] = answer.headers["set-cookie"] ?? [];
  return first.split(";")[0] as string;
}

async function drain(response: Response): Promise<void> {
  await response.text();
}
