import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Fastify from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestServer } from "../testing/index.ts";
import { listenOnSocket } from "./listen.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-listen-"));
});
afterEach(async () => rm(directory, { recursive: true }));

test("the socket is its owner's alone", async () => {
  await using server = await startTestServer();
  expect((await stat(server.socketPath)).mode & 0o777).toBe(0o600);
});

test("a socket that nobody listens on any more is replaced", async () => {
  const path = join(directory, "s");
  const { spawnSync } = await import("node:child_process");
  // Killed while it listens, so that the socket stays behind.
  spawnSync(process.execPath, [
    "-e",
    `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`,
  ]);
  expect((await stat(path)).isSocket()).toBe(true);
  const app = Fastify();
  await listenOnSocket(app, path);
  await app.close();
});

test("a socket that somebody listens on, and a file, are left alone", async () => {
  const path = join(directory, "s");
  const other = createServer().listen(path);
  await once(other, "listening");
  await expect(listenOnSocket(Fastify(), path)).rejects.toThrow(/another torpord listens/);
  other.close();
  await writeFile(join(directory, "f"), "x");
  await expect(listenOnSocket(Fastify(), join(directory, "f"))).rejects.toThrow(/not a socket/);
});
