import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { owner } from "@torpor/core";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/index.ts";
import { createTcpServers } from "./tcp.ts";

const nothing = { tls: undefined, publicUrl: undefined, allowHosts: [] };

test("with certificates it speaks https, and its cookies are kept from http", async () => {
  const directory = await mkdtemp(join(tmpdir(), "torpor-tls-"));
  try {
    const [cert, key] = [join(directory, "cert.pem"), join(directory, "key.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert, ...subject],
      { stdio: "ignore" },
    );
    await using server = await startTestServer({ tcp: { tls: { cert, key } } });
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { secret } = await server.served.lifecycle.access.createToken(owner, {});
    const sent = request(`${server.url}/v1/login`, {
      method: "POST",
      ca: await readFile(cert),
      headers: { "content-type": "application/json", origin: server.url },
    });
    sent.end(JSON.stringify({ token: secret }));
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    expect(answer.headers["set-cookie"]).toEqual([expect.stringContaining("; HttpOnly; Secure; SameSite=Strict")]);
    answer.destroy();
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("certificates that can't be read are named", async () => {
  await expect(startTestServer({ tcp: { tls: { cert: "/nowhere/cert.pem", key: "/nowhere/key.pem" } } })).rejects.toMatchObject({
    code: "invalid_path",
    message: expect.stringContaining("/nowhere/cert.pem can't be read"),
  });
});

test("a port that is taken is a clear failure, or the next free one is taken where there may be one", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  await using server = await startTestServer();
  const options = (spare: number) => ({
    listening: { ...nothing, addresses: [{ host: "127.0.0.1", port, spare }] },
    page: "/nowhere",
    instance: "a",
  });
  const [taken] = await createTcpServers(server.served, options(0));
  await expect(taken?.listen()).rejects.toMatchObject({
    code: "invalid_request",
    message: `torpord can't listen on 127.0.0.1:${port}: another program does`,
    hint: expect.stringContaining("--listen"),
  });
  const [next] = await createTcpServers(server.served, options(20));
  await next?.listen();
  expect(Number(new URL(next?.url ?? "").port)).toBeGreaterThan(port);
  for (const one of [taken, next]) await one?.close();
  other.close();
});
