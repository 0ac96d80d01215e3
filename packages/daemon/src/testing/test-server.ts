import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Image, Info } from "@torpor/contract";
import { TorporError } from "@torpor/contract";
import type { Images } from "@torpor/core";
import type { FastifyInstance } from "fastify";
import type { Served } from "../http/lifecycle.ts";
import { listenOnSocket } from "../http/listen.ts";
import { createHttpServer } from "../http/server.ts";
import { createFakeLifecycle, nextId } from "./fake-lifecycle.ts";

export interface TestServer extends AsyncDisposable {
  readonly app: FastifyInstance;
  readonly served: Served;
  readonly socketPath: string;
}

/** The API on a Unix socket over sandboxes that are processes of this host. */
export async function startTestServer(): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), "torpor-http-"));
  const socketPath = join(directory, "torpord.sock");
  const lifecycle = createFakeLifecycle();
  const served: Served = { lifecycle, images: fakeImages(), ids: { next: nextId }, info: async () => info };
  const app = await createHttpServer(served);
  await listenOnSocket(app, socketPath);
  return {
    app,
    served,
    socketPath,
    async [Symbol.asyncDispose]() {
      await app.close();
      await lifecycle.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const image: Image = {
  digest: `sha256:${"0".repeat(64)}`,
  references: ["python:3.12"],
  platform: "linux/amd64",
  storedBytes: 1_000_000,
  source: "registry",
  config: { env: {}, user: null, workdir: null, entrypoint: [], cmd: [] },
  createdAt: "2026-01-01T00:00:00.000Z",
};

function fakeImages(): Images {
  const missing = (reference: string) =>
    new TorporError("image_not_found", `there is no image ${reference}`, { hint: "torpor image list shows what there is" });
  const known = (reference: string): Image => {
    if (!image.references.includes(reference)) throw missing(reference);
    return image;
  };
  return {
    find: async (reference) => (image.references.includes(reference) ? image : undefined),
    list: async () => [image],
    async pull({ reference }, progress) {
      progress({ step: "pull", text: `pulling ${reference}`, doneBytes: 1, totalBytes: 2 });
      return known(reference);
    },
    import: async ({ reference }) => known(reference),
    build: async ({ reference }) => known(reference),
    remove: async (reference) => known(reference),
    prune: async () => ({ removed: [], freedBytes: 0 }),
    locate: () => "/nowhere",
  } as Images;
}

const yes = { supported: true, reason: "" };
const info: Info = {
  version: "0.0.0-test",
  instance: "test",
  dataDirectory: "/nowhere",
  engine: { name: "test", version: "1", path: "/nowhere", source: "built", sha256: "0" },
  capabilities: {
    create: yes,
    exec: yes,
    files: yes,
    stop: yes,
    start: yes,
    pause: { supported: false, reason: "the test engine keeps no memory" },
    resume: yes,
    fork: yes,
    memoryLimit: yes,
    cpuLimit: yes,
    pidsLimit: yes,
    diskLimit: yes,
    network: yes,
  },
  pool: { path: "/nowhere", fileSystem: "xfs", reflink: true, loopBacked: false, sizeBytes: 1, freeBytes: 1, warning: null },
  host: { kernel: "0", architecture: "x64", cpus: 1, memoryBytes: 1, cgroup: "v2" },
  network: { subnet: "10.0.0.0/16", resolver: null },
};
