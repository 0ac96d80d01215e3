import type { TorporClient } from "@torpor/sdk";
import { TestDaemon } from "../../test/system/harness/test-daemon.ts";
import { testImage } from "../../test/system/harness/test-image.ts";
import { Floor } from "../floor/floor.ts";
import type { BenchmarkContext } from "./benchmark.ts";

/** As the floor's: holds random memory, and counts. At a signal all of the memory is other, and a file has how often it was filled. */
const hold = `import os, signal, sys, time
mib = int(sys.argv[1]); held = bytearray(mib << 20); fills = 0
def fill(*_):
    global fills
    for at in range(0, len(held), 1 << 20): held[at:at + (1 << 20)] = os.urandom(1 << 20)
    fills += 1
    with open('/run/fills', 'w') as file: print(fills, file=file)
signal.signal(signal.SIGUSR1, fill); fill()
n = 0
while True:
    n += 1; print(n, flush=True); time.sleep(0.05)
`;

/** What is measured, and what it is compared with, on the same root file system and the same engine binary. */
export interface Subject {
  readonly client: TorporClient;
  readonly daemon: TestDaemon;
  readonly floor: Floor;
  /** A running sandbox with the program in it, once it counts. */
  sandbox(name: string, mib: number, diskBytes?: number): Promise<void>;
  /** `true` in the sandbox, answered. */
  exec(name: string): Promise<void>;
}

export async function openSubject(context: BenchmarkContext): Promise<Subject> {
  context.say("starting a daemon and the floor");
  const daemon = await TestDaemon.start();
  context.onEnd(() => daemon[Symbol.asyncDispose]());
  const { engine } = await daemon.client.info();
  const floor = await Floor.open(engine.path, await testImage());
  context.onEnd(() => floor.close());
  const { client } = daemon;
  return {
    client,
    daemon,
    floor,
    async sandbox(name, mib, diskBytes) {
      await client.create({
        image: "debian",
        name,
        resources: { memoryBytes: (mib + 512) * 2 ** 20, cpus: 2, ...(diskBytes === undefined ? {} : { diskBytes }) },
      });
      await holdMemory(client, name, mib);
    },
    async exec(name) {
      const { end } = await client.exec(name, { argv: ["/bin/true"] });
      if (end.exitCode !== 0) throw new Error(`true ended with ${end.exitCode}`);
    },
  };
}

/** Has the program fill its memory anew; resolves when it has. */
export async function fillAnew(client: TorporClient, name: string): Promise<void> {
  const script =
    'before=$(cat /run/fills); pkill -USR1 -f "[p]ython3 -uc"; until [ "$(cat /run/fills)" -gt "$before" ] 2>/dev/null; do sleep 0.05; done';
  const { end } = await client.exec(name, { argv: ["sh", "-c", script] });
  if (end.exitCode !== 0) throw new Error(`the memory was not filled anew: ${end.exitCode}`);
}

/** Starts the program in a sandbox; resolves once it has its memory and counts. */
export async function holdMemory(client: TorporClient, name: string, mib: number): Promise<void> {
  const session = await client.startSession(name, { argv: ["python3", "-uc", hold, String(mib)] });
  const stream = await client.attach(name, session.id);
  for await (const frame of stream) {
    if (frame.type === "output") break;
    if (frame.type === "end") throw new Error("the program ended");
  }
  stream.close();
}
