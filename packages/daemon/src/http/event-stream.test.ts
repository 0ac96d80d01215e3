import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setInterval as every } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cutOffWhenStalled, eventStream } from "./event-stream.ts";

const stalledMs = 300;
const at = "2026-01-01T00:00:00.000Z";
const large = { seq: 1, sandboxId: "sb_a", operationId: null, type: "x", data: { text: "x".repeat(100_000) }, at };

/** `/flood` sends without end, `/quiet` says now and then that it is there, `/silent` says nothing more, as of a daemon that is held up. */
async function* flood() {
  for (;;) yield { events: [large], cursor: 1 };
}
async function* quiet() {
  for await (const _ of every(stalledMs / 6)) yield { events: [], cursor: 1 };
}

async function* silent() {
  yield { events: [], cursor: 1 };
  await new Promise(() => {});
}
const streams = { "/flood": flood, "/quiet": quiet, "/silent": silent } as const;

const cut: (string | undefined)[] = [];
const server = createServer((asked, answer: ServerResponse) => {
  cutOffWhenStalled({ raw: answer as never }, stalledMs);
  const stream = Readable.from(eventStream(streams[asked.url as keyof typeof streams]()), { objectMode: false });
  answer.once("close", () => {
    cut.push(asked.url);
    stream.destroy();
  });
  stream.pipe(answer);
});
beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function open(path: string): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const asked = request({ port, path, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.on("error", () => {});
  return answer;
}

test("a client that takes nothing is cut off; one that takes little, or has little or nothing to take, is not", async () => {
  const reading = await open("/quiet");
  (await open("/silent")).resume();
  let blocks = 0;
  reading.on("data", () => blocks++);
  const stalled = await open("/flood");
  stalled.pause();
  await expect.poll(() => cut).toEqual(["/flood"]);
  // For longer than the other was given.
  while (blocks < 12) await once(reading, "data");
  expect(cut).toEqual(["/flood"]);
  reading.destroy();
});

test("each block has an id, the first says how soon to come back", async () => {
  async function* batches() {
    yield { events: [], cursor: 7 };
    yield { events: [{ ...large, seq: 8, data: { line: "a\nb" } }], cursor: 8 };
    yield { events: [], cursor: 12 };
  }
  const blocks: string[] = [];
  for await (const bytes of eventStream(batches())) blocks.push(Buffer.from(bytes).toString());
  expect(blocks).toEqual([
    "retry: 1000\nid: 7\n\n",
    `id: 8\ndata: {"seq":8,"sandboxId":"sb_a","operationId":null,"type":"x","data":{"line":"a\\nb"},"at":"${at}"}\n\n`,
    ": alive\nid: 12\n\n",
  ]);
});
