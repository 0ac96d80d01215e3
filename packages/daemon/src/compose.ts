import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Info } from "@torpor/contract";
import { createLifecycle, type Lifecycle, type Ports } from "@torpor/core";
import type { FastifyInstance } from "fastify";
import { capacityOf } from "./capacity.ts";
import { createPoolCheckpoints } from "./checkpoints/pool-checkpoints.ts";
import type { Config } from "./config.ts";
import { createPoolDisks } from "./disks/pool-disks.ts";
import { createShimComparison } from "./disks/shim-comparison.ts";
import { removeTraces } from "./engines/oci/traces.ts";
import { keepExpiring } from "./expiry.ts";
import { openFailpoint } from "./failpoint.ts";
import { keepForgetting } from "./history.ts";
import { builtDirectory } from "./host/installed.ts";
import { readNodeFacts } from "./host/node-facts.ts";
import { requireHost } from "./host/require-host.ts";
import { cronSchedules } from "./host/schedules.ts";
import { randomIds, systemClock } from "./host/system.ts";
import { randomTokens } from "./host/tokens.ts";
import { listenOnSocket } from "./http/listen.ts";
import { PortHosts } from "./http/port-hosts.ts";
import type { Served } from "./http/served.ts";
import { createHttpServer } from "./http/server.ts";
import { createTcpServers } from "./http/tcp.ts";
import { createPoolImages } from "./images/pool-images.ts";
import { openInstance } from "./instance.ts";
import { lockDataDirectory } from "./lock.ts";
import type { Logger } from "./log.ts";
import { keepMetering } from "./metering.ts";
import { measuredStore } from "./metrics/measured-store.ts";
import { Metrics } from "./metrics/metrics.ts";
import { NatNetwork } from "./network/nat-network.ts";
import { findResolver, isLoopback } from "./network/resolver.ts";
import { parseSubnet } from "./network/subnet.ts";
import { nativeBinary, openEngine } from "./open-engine.ts";
import { openPool } from "./pool/pool.ts";
import { createHttpReceivers } from "./receivers/http-receivers.ts";
import { createTargets } from "./receivers/targets.ts";
import { keepSmall } from "./rest.ts";
import { openStore } from "./stores/open-store.ts";
import { version } from "./version.ts";

export interface Daemon {
  readonly lifecycle: Lifecycle;
  readonly app: FastifyInstance;
  /** URLs at which it is served beside its socket, once it listens. */
  readonly addresses: readonly string[];
  listen(): Promise<void>;
  /** Sandboxes that run go on; if there are none, nothing of Torpor is left on the host but its data directory. */
  close(): Promise<void>;
}

/** What `packages/web` is built into. */
const pageDirectory = builtDirectory("../page", "../../web/dist");

type Release = () => Promise<unknown>;

/** Puts the real adapters together and recovers what an earlier daemon left. It does not listen yet. Who measures the store opens it in its own way. */
export async function openDaemon(config: Config, log: Logger, open: typeof openStore = openStore): Promise<Daemon> {
  requireHost();
  const releases: Release[] = [];
  try {
    return await compose(config, log, open, releases);
  } catch (error) {
    await release(releases);
    throw error;
  }
}

async function compose(config: Config, log: Logger, open: typeof openStore, releases: Release[]): Promise<Daemon> {
  const { dataDirectory } = config;
  const targets = createTargets(config.webhookAllow);
  await mkdir(dataDirectory, { recursive: true, mode: 0o711 });
  const lock = await lockDataDirectory(path.join(dataDirectory, "torpord.lock"));
  releases.push(() => lock.release());
  const { instance, subnet } = await openInstance(dataDirectory, config.subnet);
  const resolver = await findResolver(config.dns);
  const engine = await openEngine({ engine: config.engine, dataDirectory, instance, resolverOnLoopback: isLoopback(resolver) });
  const idle = async () => (await engine.list()).length === 0;
  releases.push(async () => (await idle()) && removeTraces(instance));
  const shimPath = nativeBinary("torpor-shim");
  const pool = await openPool(dataDirectory, {
    shimPath,
    ...(config.poolSizeBytes === undefined ? {} : { sizeBytes: config.poolSizeBytes }),
    warn: (message) => log.warn(message),
  });
  releases.push(async () => pool.close({ unmount: await idle() }));
  releases.push(() => engine.close());
  engine.prepare(pool.storage);
  const network = new NatNetwork({ instance, subnet: parseSubnet(subnet), resolver });
  await network.open();
  releases.push(async () => (await idle()) && network.close());
  const metrics = new Metrics();
  const opened = await open({ store: config.store, dataDirectory, instance });
  const store = measuredStore(opened, metrics);
  releases.push(() => store.close());

  const host = await readNodeFacts();
  const images = createPoolImages(pool, { registryMirror: config.registryMirror });
  const comparison = createShimComparison({
    shimPath,
    dataDirectory: path.dirname(pool.path),
    scratch: pool.directory("tmp"),
  });
  releases.push(() => comparison.close());
  const failpoint = openFailpoint(process.env);
  if (failpoint !== undefined) log.warn("TORPOR_FAILPOINT is set: this daemon may end itself");
  const ports: Ports = {
    store,
    engine,
    disks: createPoolDisks(pool),
    checkpoints: createPoolCheckpoints(pool),
    images,
    comparison,
    network,
    receivers: createHttpReceivers(targets),
    ids: randomIds,
    tokens: randomTokens,
    schedules: cronSchedules,
    clock: systemClock,
    log: { info: (message, fields) => log.info(fields, message), error: (message, fields) => log.error(fields, message) },
    node: { memoryBytes: host.memoryBytes, cpus: host.cpus, capacity: capacityOf(host, config.capacity) },
    ...(failpoint === undefined ? {} : { failpoint }),
  };
  const lifecycle = createLifecycle(ports);
  releases.push(() => lifecycle.idle());
  releases.push(() => lifecycle.close());
  const recovery = await lifecycle.recover();
  log.info(recovery, "recovered");
  releases.push(keepForgetting(lifecycle, config.retention, log));
  releases.push(keepExpiring(lifecycle, log));
  releases.push(keepMetering(lifecycle, log));
  releases.push(keepSmall(lifecycle, log));

  const addresses: string[] = [];
  const portHosts = new PortHosts(config.listening);
  const info = async (): Promise<Info> => {
    const { capabilities, ...binary } = await engine.describe();
    return {
      version,
      instance,
      dataDirectory,
      engine: binary,
      capabilities,
      pool: await pool.info(),
      host,
      ...(await lifecycle.capacity()),
      network: { subnet, resolver: resolver && `${resolver.address}:${resolver.port}` },
      listening: { addresses, publicUrl: config.listening.publicUrl?.origin ?? null },
    };
  };
  const served: Served = { lifecycle, images, ids: randomIds, metrics, info, portUrl: (label) => portHosts.urlOf(label, addresses) };
  const app = await createHttpServer(served, { logger: log });
  releases.push(() => app.close());
  const tcp = await createTcpServers(served, { listening: config.listening, page: pageDirectory, instance, logger: log });
  releases.push(...tcp.map((server) => () => server.close()));
  const listen = async () => {
    await listenOnSocket(app, config.socketPath);
    for (const server of tcp) await server.listen();
    addresses.push(...tcp.flatMap(({ url }) => url ?? []));
  };
  return { lifecycle, app, addresses, listen, close: () => release(releases) };
}

/** Last acquired first; every one of them is tried, the first failure is told. */
async function release(releases: Release[]): Promise<void> {
  const failures: unknown[] = [];
  for (const one of releases.splice(0).reverse()) {
    await one().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}
