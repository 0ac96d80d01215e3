import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { TorporError } from "@torpor/contract";
import { owner } from "@torpor/core";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { call, startTestServer, type TestServer, upgrade } from "../testing/index.ts";

let server: TestServer;
let exposed: { readonly port: number; readonly host: string };
let program: Server;
let handle: (request: IncomingMessage, response: ServerResponse) => void;
beforeAll(async () => {
  server = await startTestServer({ tcp: { publicUrl: new URL("https://torpor.example") } });
  await server.served.lifecycle.create({ image: "debian", name: "box" });
  program = createServer((asked, answer) => handle(asked, answer)).listen(0, "127.0.0.1");
  await once(program, "listening");
  exposed = await expose("box", (program.address() as AddressInfo).port, true);
});
afterAll(async () => {
  program.close();
  await server[Symbol.asyncDispose]();
});
afterEach(() => {
  handle = (_, answer) => answer.end();
});

async function expose(sandbox: string, port: number, isPublic: boolean) {
  const { label } = await server.served.lifecycle.expose(sandbox, port, { public: isPublic });
  return { port, host: `${label}.localhost:${new URL(server.url).port}` };
}

test("a request reaches the program as it was, and its answer comes back as it was", async () => {
  const body = Buffer.from(Array.from({ length: 2_000_000 }, (_, index) => index % 253));
  let seen: { method: string | undefined; url: string | undefined; host: string | undefined; body: Buffer } | undefined;
  handle = (asked, answer) => {
    void buffer(asked).then((content) => {
      seen = { method: asked.method, url: asked.url, host: asked.headers.host, body: content };
      answer.writeHead(
        207,
        "Done",
        [
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
          ["X-Odd", "ü"],
        ].flat(),
      );
      answer.end(content);
    });
  };
  const sent = request(`${server.url}/a%20b/..%2f?x=%2F&y`, { method: "PUT", agent: false, headers: { host: exposed.host } });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  expect((await buffer(answer)).equals(body)).toBe(true);
  expect(answer).toMatchObject({ statusCode: 207, statusMessage: "Done", headers: { "set-cookie": ["a=1", "b=2"] } });
  expect(seen).toMatchObject({ method: "PUT", url: "/a%20b/..%2f?x=%2F&y", host: exposed.host });
  expect(seen?.body.equals(body)).toBe(true);
});

test("N01: a WebSocket gets through, and the host name stays", async () => {
  const sockets = new WebSocketServer({ server: program });
  let host: string | undefined;
  sockets.on("connection", (socket, asked) => {
    host = asked.headers.host;
    socket.on("message", (data, binary) => socket.send(data, { binary }));
  });
  const client = new WebSocket(server.url.replace("http", "ws"), { headers: { host: exposed.host } });
  await once(client, "open");
  const content = Buffer.alloc(300_000, 7);
  client.send(content);
  const [echo] = (await once(client, "message")) as [Buffer];
  expect(echo.equals(content)).toBe(true);
  expect(host).toBe(exposed.host);
  client.close();
  await once(client, "close");
  sockets.close();
});

test("N01: X-Forwarded headers are ours, whatever the caller says; the token that let it in is not told", async () => {
  let seen: IncomingMessage["headers"] = {};
  handle = (asked, answer) => {
    seen = asked.headers;
    answer.end();
  };
  const closed = await expose("box", exposed.port, false);
  const { secret } = await server.served.lifecycle.access.createToken(owner, { scopes: ["port"] });
  const lies = { "x-forwarded-for": "1.2.3.4", "x-forwarded-host": "evil.test", "x-forwarded-proto": "https", forwarded: "for=1.2.3.4" };
  const answer = await call(server.url, "/", {
    headers: { ...lies, host: closed.host, "x-torpor-token": secret, authorization: "Bearer own" },
  });
  expect(answer.status).toBe(200);
  expect(seen).toMatchObject({
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": closed.host,
    "x-forwarded-proto": "http",
    authorization: "Bearer own",
  });
  expect(JSON.stringify(seen)).not.toContain(secret);
  expect(seen.forwarded).toBeUndefined();
  exposed = await expose("box", exposed.port, true);
});

test("a port that is not public needs a token with the scope port", async () => {
  const closed = await expose("box", exposed.port, false);
  expect(await call(server.url, "/", { headers: { host: closed.host } })).toMatchObject({
    status: 401,
    body: { error: { code: "unauthorized" } },
  });
  const { secret } = await server.served.lifecycle.access.createToken(owner, { scopes: ["exec"] });
  expect(await call(server.url, "/", { headers: { host: closed.host, "x-torpor-token": secret } })).toMatchObject({ status: 403 });
  expect(await upgrade(server.url, "/", { host: closed.host })).toMatchObject({ status: 401 });
  const other = await server.served.lifecycle.access.createToken(owner, { scopes: ["port"], team: "other" });
  expect(await call(server.url, "/", { headers: { host: closed.host, "x-torpor-token": other.secret } })).toMatchObject({ status: 404 });
  exposed = await expose("box", exposed.port, true);
});

test("N10: no header and no form of address leads a request to another place", async () => {
  const seen: (string | undefined)[] = [];
  handle = (asked, answer) => {
    seen.push(asked.url);
    answer.end("program");
  };
  const steering = { "x-pod-ip": "10.0.0.1", "x-port": "1", "x-namespace": "x", "x-forwarded-host": "other.localhost" };
  expect((await call(server.url, "/", { headers: { ...steering, host: exposed.host } })).text).toBe("program");
  expect(await raw(`GET //evil.test/x HTTP/1.1\r\nHost: ${exposed.host}\r\nConnection: close\r\n\r\n`)).toContain("200 OK");
  expect(seen).toEqual(["/", "//evil.test/x"]);
  expect(await raw(`GET http://evil.test/ HTTP/1.1\r\nHost: ${exposed.host}\r\nConnection: close\r\n\r\n`)).toContain("HTTP/1.1 400");
  expect(await raw(`CONNECT evil.test:80 HTTP/1.1\r\nHost: ${exposed.host}\r\n\r\n`)).not.toContain("200");
  expect(seen).toHaveLength(2);
});

test("an address of nothing is 404, the API is at none, and a program that is not there is 502 with its number", async () => {
  const none = exposed.host.replace(/^\d+-/, "1-");
  expect(await call(server.url, "/v1/info", { headers: { host: none } })).toMatchObject({
    status: 404,
    body: { error: { code: "port_not_exposed" } },
  });
  const gone = await expose("box", 1, true);
  expect(await call(server.url, "/", { headers: { host: gone.host } })).toMatchObject({
    status: 502,
    body: { error: { code: "port_closed", message: "nothing listens on port 1 in the sandbox" } },
  });
  handle = (asked) => asked.socket.destroy();
  expect(await call(server.url, "/", { headers: { host: exposed.host } })).toMatchObject({
    status: 502,
    body: { error: { code: "port_closed" } },
  });
});

test("a paused sandbox that does not wake for calls answers 409, one that does is resumed", async () => {
  handle = (_, answer) => answer.end("awake");
  await server.served.lifecycle.pause("box");
  expect(await call(server.url, "/", { headers: { host: exposed.host } })).toMatchObject({
    status: 409,
    body: { error: { code: "sandbox_not_running" } },
  });
  await server.served.lifecycle.update("box", { autoResume: true });
  expect((await call(server.url, "/", { headers: { host: exposed.host } })).text).toBe("awake");
});

test("what may go through a moment later says when to come again, as the API does", async () => {
  const { lifecycle } = server.served;
  const busy = vi.spyOn(lifecycle, "guest").mockRejectedValue(new TorporError("operation_active", "others wait for sandbox box too"));
  onTestFinished(() => busy.mockRestore());
  const refused = { status: 409, headers: { "retry-after": "1" } };
  expect(await call(server.url, "/", { headers: { host: exposed.host } })).toMatchObject(refused);
  expect(await upgrade(server.url, "/", { host: exposed.host })).toMatchObject(refused);
  busy.mockRejectedValue(new TorporError("sandbox_waking", "it is being resumed", { details: { retryAfterMs: 2500 } }));
  expect(await upgrade(server.url, "/", { host: exposed.host })).toMatchObject({ status: 503, headers: { "retry-after": "3" } });
  busy.mockRejectedValue(new TorporError("sandbox_not_running", "it is stopped"));
  expect((await call(server.url, "/", { headers: { host: exposed.host } })).headers).not.toHaveProperty("retry-after");
});

test("behind a public URL the address is a name below it", async () => {
  const { label } = await server.served.lifecycle.expose("box", exposed.port, { public: true });
  expect(server.served.portUrl(label)).toBe(`https://${label}.torpor.example/`);
  handle = (_, answer) => answer.end("public");
  expect((await call(server.url, "/", { headers: { host: `${label}.torpor.example` } })).text).toBe("public");
});

async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
  socket.write(text);
  return (await buffer(socket)).toString();
}
