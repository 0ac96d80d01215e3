import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Info } from "@torpor/contract";
import { type Clock, createLifecycle, type Ids, type Ports } from "@torpor/core";
import { MemoryImages, MemoryWorld } from "@torpor/core/testing";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { cronSchedules } from "../host/schedules.ts";
import { randomTokens } from "../host/tokens.ts";
import { listenOnSocket } from "../http/listen.ts";
import { PortHosts } from "../http/port-hosts.ts";
import type { Served } from "../http/served.ts";
import { createHttpServer } from "../http/server.ts";
import { createTcpServers } from "../http/tcp.ts";
import type { Listening } from "../listening.ts";
import { measuredStore } from "../metrics/measured-store.ts";
import { Metrics } from "../metrics/metrics.ts";
import { createHttpReceivers } from "../receivers/http-receivers.ts";
import { createTargets } from "../receivers/targets.ts";
import { ProcessEngine } from "./process-engine.ts";

export interface TestServer extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly served: Served;
  readonly ports: Ports;
  readonly socketPath: string;
  /** http://127.0.0.1:port, with `tcp`. */
  readonly url: string;
}

export interface TestServerOptions {
  /** Also at a free port of TCP. */
  readonly tcp?: Partial<Omit<Listening, "addresses">> & { readonly page?: string; readonly logger?: FastifyBaseLogger };
  readonly host?: string;
  readonly unsupported?: readonly ("pause" | "resume" | "fork")[];
}

/** The API on a Unix socket: the real lifecycle in memory, over sandboxes that are processes of this host. */
export async function startTestServer({
  unsupported = [],
  tcp,
  host: listenHost = "127.0.0.1",
}: TestServerOptions = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), "torpor-http-"));
  const socketPath = join(directory, "torpord.sock");
  const world = new MemoryWorld();
  const engine = new ProcessEngine({ disks: world.disks, checkpoints: world.checkpoints, unsupported });
  const images = new MemoryImages({ present: ["debian", "python:3.12"], remote: ["alpine"] });
  const receivers = createHttpReceivers(createTargets("127.0.0.0/8"));
  const ports: Ports = { ...world.ports(), engine, images, receivers, clock, ids, tokens: randomTokens, schedules: cronSchedules };
  const metrics = new Metrics();
  const lifecycle = createLifecycle({ ...ports, store: measuredStore(ports.store, metrics) });
  const addresses: string[] = [];
  const info = async (): Promise<Info> => {
    const { capabilities, ...binary } = await engine.describe();
    return { ...host, engine: binary, capabilities, listening: { addresses, publicUrl: null } };
  };
  const portHosts = new PortHosts({ publicUrl: tcp?.publicUrl, allowHosts: tcp?.allowHosts ?? [] });
  const served: Served = { lifecycle, images, ids, metrics, info, portUrl: (label) => portHosts.urlOf(label, addresses) };
  const app = await createHttpServer(served);
  await lifecycle.recover();
  await listenOnSocket(app, socketPath);
  const { page = "/nowhere", logger, ...listening } = tcp ?? {};
  const servers = await createTcpServers(served, {
    listening: {
      addresses: tcp === undefined ? [] : [{ host: listenHost, port: 0, spare: 0 }],
      tls: undefined,
      publicUrl: undefined,
      allowHosts: [],
      ...listening,
    },
    page,
    instance: "test",
    ...(logger === undefined ? {} : { logger }),
  });
  for (const server of servers) await server.listen();
  const url = servers[0]?.url ?? "";
  if (url !== "") addresses.push(url);
  return {
    app,
    served,
    ports,
    socketPath,
    url,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
      await app.close();
      await lifecycle.close();
      await engine.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const clock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) }),
};

const letters = "234567abcdefghijklmnopqrstuvwxyz";
let made = 0;
/** In the order in which they are made, as is what is made within one millisecond. */
const ids: Ids = {
  next: (prefix) => {
    const number = made++;
    const counted = [15, 10, 5, 0].map((bits) => letters[(number >> bits) % 32]);
    return `${prefix}_${[...counted, ...Array.from(randomBytes(12), (byte) => letters[byte % 32])].join("")}`;
  },
};

const host: Omit<Info, "engine" | "capabilities" | "listening"> = {
  version: "0.0.0-test",
  instance: "test",
  dataDirectory: "/nowhere",
  pool: { path: "/nowhere", fileSystem: "xfs", reflink: true, loopBacked: false, sizeBytes: 1, freeBytes: 1, warning: null },
  host: { kernel: "0", architecture: "x64", cpus: 1, memoryBytes: 1, cgroup: "v2" },
  held: { memoryBytes: 0, cpus: 0, diskBytes: 0 },
  capacity: { memoryBytes: 1, cpus: 1, diskBytes: 1 },
  network: { subnet: "10.0.0.0/16", resolver: null },
};
