import { randomBytes } from "node:crypto";
import path from "node:path";
import { setTimeout as passes } from "node:timers/promises";
import { type EngineHarness, engineConformance } from "@torpor/core/testing";
import { afterAll, beforeAll } from "vitest";
import { createPoolCheckpoints } from "../../packages/daemon/src/checkpoints/pool-checkpoints.ts";
import { createPoolDisks } from "../../packages/daemon/src/disks/pool-disks.ts";
import { removeTraces } from "../../packages/daemon/src/engines/oci/traces.ts";
import { randomIds } from "../../packages/daemon/src/host/system.ts";
import { createPoolImages } from "../../packages/daemon/src/images/pool-images.ts";
import { openEngine } from "../../packages/daemon/src/open-engine.ts";
import { flipByte } from "./harness/flip-byte.ts";
import { leftBehind } from "./harness/host-state.ts";
import { testImage } from "./harness/test-image.ts";
import { type TemporaryPool, temporaryPool } from "./pool/temporary-pool.ts";

const mib = 2 ** 20;
const lineMs = 100;
const counter = [
  "python3",
  "-u",
  "-c",
  `import itertools, time\nfor n in itertools.count(1):\n    print(n)\n    time.sleep(${lineMs / 1000})\n`,
];

const echo = `import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = server.accept()
    while data := connection.recv(65536):
        connection.sendall(data)
    connection.close()
`;

let space: TemporaryPool;
let image: EngineHarness["image"];
beforeAll(async () => {
  space = await temporaryPool({ sizeBytes: 8 * 2 ** 30 });
  const images = createPoolImages(space.pool, {});
  const { digest } = await images.import({ path: await testImage(), reference: "debian" }, () => {});
  image = { location: images.locate(digest), digest };
});
afterAll(() => space[Symbol.asyncDispose]());

engineConformance("gVisor", () => harness("gvisor"));
engineConformance("runc", () => harness("runc"));

/** The image and the pool are the same for all tests; what is on the host bears an instance of each test's own. */
async function harness(name: "gvisor" | "runc"): Promise<EngineHarness> {
  const instance = randomBytes(4).toString("hex");
  const engine = await openEngine({ engine: name, dataDirectory: space.dataDirectory, instance, resolverOnLoopback: false });
  const disks = createPoolDisks(space.pool);
  const checkpoints = createPoolCheckpoints(space.pool);
  return {
    engine,
    disks,
    checkpoints,
    ids: randomIds,
    image,
    resources: { memoryBytes: 128 * mib, cpus: 1, diskBytes: 64 * mib, pids: 64 },
    network: null,
    counter,
    echoServer: (port) => ["python3", "-c", echo, String(port)],
    advance: (lines) => passes(lines * lineMs),
    passed: () => performance.now() / lineMs,
    corrupt: (checkpointId, part) => flipByte(path.join(checkpoints.locate(checkpointId), part)),
    async dispose() {
      await Promise.all((await engine.list()).map((id) => engine.destroy(id)));
      await engine.close();
      await Promise.all([
        ...(await checkpoints.list()).map((id) => checkpoints.remove(id)),
        ...(await disks.list()).map((id) => disks.remove(id)),
      ]);
      await removeTraces(instance);
      const left = await leftBehind([instance]);
      if (left.length > 0) {
        throw new Error(`left behind on the host:\n${left.join("\n")}`);
      }
    },
  };
}
