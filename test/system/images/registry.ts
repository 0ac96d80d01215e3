import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { addressIn } from "../harness/registry.ts";
import { type LayoutOptions, writeLayout } from "./layout-builder.ts";
import type { TarEntry } from "./tar.ts";

export interface Registry extends AsyncDisposable {
  /** Host and port. */
  readonly address: string;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  /** Pushes an image of these layers and answers the digest that the registry knows it by. */
  push(name: string, layers: readonly (readonly TarEntry[])[], options?: LayoutOptions): Promise<string>;
}

/** Debian's docker-registry on a free port of the loopback; ended and removed at the end of the scope. */
export async function startRegistry({ protectedBy }: { protectedBy?: { username: string; password: string } } = {}): Promise<Registry> {
  const directory = await mkdtemp(path.join(tmpdir(), "torpor-registry-"));
  const configuration = path.join(directory, "config.yml");
  const htpasswd = path.join(directory, "htpasswd");
  if (protectedBy !== undefined) {
    // bcrypt, the only kind that the registry reads, of "correct horse".
    await writeFile(htpasswd, `${protectedBy.username}:${bcryptOfCorrectHorse}\n`);
  }
  await writeFile(
    configuration,
    [
      "version: 0.1",
      "log: { level: info }",
      `storage: { filesystem: { rootdirectory: ${directory}/data } }`,
      "http: { addr: 127.0.0.1:0 }",
      ...(protectedBy === undefined ? [] : [`auth: { htpasswd: { realm: test, path: ${htpasswd} } }`]),
    ].join("\n"),
  );
  const child = spawn("docker-registry", ["serve", configuration], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env.PATH, OTEL_TRACES_EXPORTER: "none" },
  });
  const address = await addressIn(child.stderr);
  let count = 0;
  return {
    address,
    credentials: protectedBy,
    push: async (name, layers, options) => {
      count += 1;
      const layout = path.join(directory, `layout-${count}`);
      const digest = await writeLayout(layout, layers, options);
      const authFile = path.join(directory, "auth.json");
      const auth = Buffer.from(`${protectedBy?.username}:${protectedBy?.password}`).toString("base64");
      await writeFile(authFile, JSON.stringify({ auths: protectedBy === undefined ? {} : { [address]: { auth } } }));
      const target = `docker://${address}/${name}`;
      await run("skopeo", [
        "--insecure-policy",
        "copy",
        "--all",
        "--preserve-digests",
        `--authfile=${authFile}`,
        "--dest-tls-verify=false",
        `oci:${layout}`,
        target,
      ]);
      return digest;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export interface Meddler extends AsyncDisposable {
  readonly address: string;
}

/** Stands before a registry and flips one byte of each answer whose path matches. */
export async function startMeddler(registry: Registry, pattern: RegExp): Promise<Meddler> {
  return await listen((request, response) => {
    void answer(registry, pattern, request).then(({ status, headers, body }) => response.writeHead(status, headers).end(body));
  });
}

/** Asks for credentials, tells when they come, and is content with none. */
export async function startAsking(onCredentials: () => Promise<void>): Promise<Meddler> {
  return await listen((request, response) => {
    const told = request.headers.authorization === undefined ? Promise.resolve() : onCredentials();
    void told.then(() => response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end());
  });
}

async function listen(handler: RequestListener): Promise<Meddler> {
  const server = createServer(handler);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function answer(registry: Registry, pattern: RegExp, request: IncomingMessage) {
  const accept = request.headers.accept ?? "*/*";
  const found = await fetch(`http://${registry.address}${request.url}`, { method: request.method ?? "GET", headers: { accept } });
  const body = Buffer.from(await found.arrayBuffer());
  if (pattern.test(request.url ?? "") && body.length > 0) {
    const at = Math.floor(body.length / 2);
    body[at] = (body[at] ?? 0) ^ 1;
  }
  return { status: found.status, headers: Object.fromEntries(found.headers), body };
}

// bcrypt, cost 5.
const bcryptOfCorrectHorse = "$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2";
