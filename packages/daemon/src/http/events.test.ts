import { type IncomingMessage, request } from "node:http";
import type { Event, EventPage } from "@torpor/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const at = "2026-01-01T00:00:00.000Z";
/** Others than the lifecycle's, of which only the number matters. */
async function add(...types: string[]): Promise<void> {
  const sandbox = { sandboxId: "sb_aaaaaaaaaaaaaaaa", operationId: null, data: {}, at };
  await server.ports.store.commit({ events: types.map((type) => ({ ...sandbox, type })) });
  server.served.lifecycle.feed.announce();
}

async function list(query = ""): Promise<{ status: number; body: EventPage & { error: { code: string; details: object } } }> {
  const answer = await server.app.inject(`/v1/events${query}`);
  return { status: answer.statusCode, body: answer.json() };
}

/** A client as a browser's EventSource: its last id is what a block without data sets too. */
class Source {
  lastId = "";
  readonly events: Event[] = [];
  readonly #answer: IncomingMessage;
  #text = "";

  private constructor(answer: IncomingMessage) {
    this.#answer = answer;
  }

  static open(query = "", headers: Record<string, string> = {}): Promise<Source> {
    return new Promise((resolve, reject) => {
      const asked = {
        socketPath: server.socketPath,
        path: `/v1/events${query}`,
        headers: { accept: "text/event-stream", ...headers },
        agent: false,
      };
      request(asked, (answer) => resolve(new Source(answer)))
        .on("error", reject)
        .end();
    });
  }

  get answer(): IncomingMessage {
    return this.#answer;
  }

  /** Reads on until there are so many events, or, with none, the first block. */
  async read(count: number): Promise<readonly Event[]> {
    for await (const chunk of this.#answer.iterator({ destroyOnReturn: false })) {
      this.#text += String(chunk);
      const blocks = this.#text.split("\n\n");
      this.#text = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
      if (this.events.length >= count) break;
    }
    return this.events;
  }

  async text(): Promise<string> {
    for await (const chunk of this.#answer) this.#text += String(chunk);
    return this.#text;
  }

  close(): void {
    this.#answer.destroy();
  }

  #take(block: string): void {
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) this.lastId = line.slice(4);
      if (line.startsWith("data: ")) this.events.push(JSON.parse(line.slice(6)));
    }
  }
}

const load = () => server.served.lifecycle.feed.load;
async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => setImmediate(resolve));
}

describe("a list of events", () => {
  test("has pages and filters", async () => {
    await server.app.inject({ method: "POST", url: "/v1/sandboxes", payload: { image: "debian", name: "base" } });
    await add("x.one", "x.two", "y");
    expect((await list()).body.events.map(({ type }) => type)).toEqual(["sandbox.created", "x.one", "x.two", "y"]);
    expect((await list("?after=1&limit=2")).body).toMatchObject({ events: [{ seq: 2 }, { seq: 3 }], next: 3 });
    expect((await list("?type=y,sandbox.*")).body.events.map(({ seq }) => seq)).toEqual([1, 4]);
    expect((await list("?sandbox=base")).body).toMatchObject({ events: [{ type: "sandbox.created" }], next: 4 });
    expect((await list("?sandbox=sb_aaaaaaaaaaaaaaaa&type=x.*&after=2")).body.events.map(({ seq }) => seq)).toEqual([3]);
  });

  test("whose beginning is gone says where it can begin, also that of one sandbox", async () => {
    await add("1", "2", "3", "4");
    await server.ports.store.prune({ now: at, before: "", undeliveredBefore: "", perSandbox: 2, batch: 10 });
    for (const path of ["/v1/events", "/v1/sandboxes/sb_aaaaaaaaaaaaaaaa/events"]) {
      const answer = await server.app.inject(`${path}?after=1`);
      expect(answer.statusCode).toBe(410);
      expect(answer.json().error).toMatchObject({ code: "events_gone", details: { after: 1, oldest: 2 } });
    }
    expect((await list("?after=2")).body.events.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  test.each([
    ["?after=-1", "invalid_request"],
    ["?after=99", "invalid_request"],
    ["?after=x", "invalid_request"],
    ["?limit=10001", "invalid_request"],
    ["?type=", "invalid_request"],
    ["?type=Sandbox", "invalid_request"],
    ["?type=a,,b", "invalid_request"],
    ["?type=*.paused", "invalid_request"],
    ["?types=x", "invalid_request"],
    ["?sandbox=nobody", "sandbox_not_found"],
    ["?sandbox=..%2f", "invalid_request"],
  ])("is refused: %s", async (query, code) => {
    expect((await list(query)).body.error.code).toBe(code);
    const stream = await server.app.inject({ url: `/v1/events${query}`, headers: { accept: "text/event-stream" } });
    expect(stream.json().error.code).toBe(code);
    expect(load().readers).toBe(0);
  });
});

describe("a stream of events", () => {
  test("begins now; the client that comes back with its last id misses none and gets none twice", async () => {
    await add("before");
    const first = await Source.open();
    expect(first.answer.headers).toMatchObject({ "content-type": "text/event-stream", "cache-control": "no-store" });
    await first.read(0);
    expect(first.lastId).toBe("1");
    await add("one", "two");
    await first.read(2);
    first.close();
    await add("three", "four");
    const second = await Source.open("?after=0", { "last-event-id": first.lastId });
    await second.read(2);
    second.close();
    expect([...first.events, ...second.events].map(({ seq, type }) => `${seq} ${type}`)).toEqual(["2 one", "3 two", "4 three", "5 four"]);
  });

  test("that is cut at any event goes on with the next", async () => {
    const seqs: number[] = [];
    let lastId = "0";
    for (let round = 0; round < 8; round++) {
      await add("a", "b", "c");
      const source = await Source.open("", { "last-event-id": lastId });
      await source.read(1 + (round % 3));
      source.close();
      seqs.push(...source.events.map(({ seq }) => seq));
      lastId = source.lastId;
    }
    const rest = await Source.open("", { "last-event-id": lastId });
    if (Number(lastId) < 24) await rest.read(24 - Number(lastId));
    rest.close();
    seqs.push(...rest.events.map(({ seq }) => seq));
    expect(seqs).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  });

  test("with a filter has only what was asked for, and an id also for what was passed over", async () => {
    const source = await Source.open("?type=sandbox.*&after=0");
    await add("other", "other");
    await server.app.inject({ method: "POST", url: "/v1/sandboxes", payload: { image: "debian", name: "base" } });
    expect((await source.read(1)).map(({ type }) => type)).toEqual(["sandbox.created"]);
    source.close();
  });

  test("whose client goes leaves nothing behind", async () => {
    const sources = await Promise.all(Array.from({ length: 10 }, () => Source.open()));
    for (const source of sources) await source.read(0);
    await until(() => load().waiting === 10);
    for (const source of sources) source.close();
    await until(() => load().readers === 0);
    expect(load()).toEqual({ readers: 0, waiting: 0 });
  });

  test("whose client takes nothing holds one batch in memory, and no more", async () => {
    const data = { text: "x".repeat(20_000) };
    const source = await Source.open("?after=0");
    source.answer.pause();
    const events = Array.from({ length: 3000 }, () => ({ sandboxId: "sb_a", operationId: null, type: "large", data, at }));
    const { store } = server.ports;
    const read = store.listEvents.bind(store);
    let reads = 0;
    store.listEvents = async (filter) => {
      reads++;
      return read(filter);
    };
    await store.commit({ events });
    server.served.lifecycle.feed.announce();
    await until(() => reads > 0);
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    // 60 MB in 15 batches: those that fill the connection's buffers were read, and one that waits.
    expect(reads).toBeLessThan(6);
    source.answer.resume();
    expect((await source.read(3000)).map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    source.close();
  });

  test("is refused before it begins: a number that is gone, one that is none, a limit", async () => {
    await add("1", "2", "3");
    await server.ports.store.prune({ now: at, before: "", undeliveredBefore: "", perSandbox: 1, batch: 10 });
    for (const [query, id, status] of [
      ["", "1", 410],
      ["", "77", 400],
      ["", "x", 400],
      ["?limit=1", "", 400],
    ] as const) {
      const source = await Source.open(query, { "last-event-id": id });
      expect(source.answer.statusCode).toBe(status);
      await source.text();
    }
    expect(load().readers).toBe(0);
  });

  test("ends with the server", async () => {
    await using other = await startTestServer();
    const answer = await new Promise<IncomingMessage>((resolve) => {
      request({ socketPath: other.socketPath, path: "/v1/events", headers: { accept: "text/event-stream" }, agent: false }, resolve).end();
    });
    const ended = new Promise((resolve) => answer.once("close", resolve));
    answer.on("error", () => {}).resume();
    await other.app.close();
    await ended;
    await until(() => other.served.lifecycle.feed.load.readers === 0);
  });
});
