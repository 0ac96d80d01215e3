import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { TorporClient } from "./index.ts";

/** A client of a server at TCP that answers as told. */
async function served(answer: RequestListener, work: (client: TorporClient, url: string) => Promise<void>): Promise<void> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new TorporClient({ url, token: "torpor_secret" });
  try {
    await work(client, url);
  } finally {
    client.close();
    server.closeAllConnections();
    server.close();
  }
}

const refusing =
  (status: number, code: string): RequestListener =>
  (_, answer) =>
    answer.writeHead(status).end(JSON.stringify({ error: { code, message: "it says why", hint: "and what to do" } }));

test("a server that is not there", async () => {
  let gone = "";
  await served(
    () => {},
    async (_, url) => {
      gone = url;
    },
  );
  await expect(new TorporClient({ url: gone }).list()).rejects.toMatchObject({
    code: "daemon_unreachable",
    message: expect.stringContaining(`no answer from ${gone}`),
    hint: expect.stringContaining("torpor daemon start --listen 127.0.0.1:"),
  });
  await expect(new TorporClient({ url: "http://no-such-host.invalid" }).list()).rejects.toMatchObject({
    code: "daemon_unreachable",
    hint: "look whether the host's name is right",
  });
  await served(
    () => {},
    async (_, url) => {
      await expect(new TorporClient({ url: url.replace("http:", "https:") }).list()).rejects.toMatchObject({
        code: "daemon_unreachable",
        hint: expect.stringContaining("it does not speak https there: try http://127.0.0.1:"),
      });
    },
  );
});

test("a token that is not known, in a call and in a stream", () =>
  served(refusing(401, "unauthorized"), async (client) => {
    const told = { code: "unauthorized", message: "it says why", hint: "and what to do" };
    await expect(client.list()).rejects.toMatchObject(told);
    await expect(client.stream("x", { argv: ["true"] })).rejects.toMatchObject(told);
    await expect(client.feed.follow().next()).rejects.toMatchObject(told);
  }));

test("a daemon that is older than the client", () =>
  served(refusing(404, "route_not_found"), async (client, url) => {
    await expect(client.access.whoami()).rejects.toMatchObject({
      code: "version_mismatch",
      message: `the daemon at ${url} does not know GET /v1/whoami: it is older than this client`,
      hint: expect.stringContaining("upgrade torpord there"),
    });
  }));

test("a server that is none of Torpor's", async () => {
  for (const [status, text] of [
    [200, "<html>Welcome to nginx"],
    [404, "<html>Welcome to nginx"],
    [404, '{"error":"Not Found","statusCode":404}'],
    [500, '{"error":{"code":7}}'],
  ] as const) {
    await served(
      (_, answer) => answer.writeHead(status).end(text),
      async (client, url) => {
        const told = { code: "daemon_unreachable", message: `what answers at ${url} is not torpord: status ${status}, ${text}` };
        await expect(client.list()).rejects.toMatchObject(told);
        await expect(client.stream("x", { argv: ["true"] })).rejects.toMatchObject(told);
      },
    );
  }
});

test("an answer that breaks off", () =>
  served(
    (_, answer) => {
      answer.writeHead(200, { "content-length": "100" });
      answer.write('{"sandboxes":[');
      setImmediate(() => answer.destroy());
    },
    async (client) => {
      await expect(client.list()).rejects.toMatchObject({
        code: "connection_lost",
        hint: expect.stringContaining("what the call began goes on"),
      });
      await expect(client.diff("x").next()).rejects.toMatchObject({ code: "connection_lost" });
      await expect(client.stream("x", { argv: ["true"] })).rejects.toMatchObject({ code: "connection_lost" });
    },
  ));
