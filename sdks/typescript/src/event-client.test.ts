import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Event, TorporClient } from "./index.ts";
import { against, startDaemon } from "./testing/daemon.ts";

let daemon: Awaited<ReturnType<typeof startDaemon>>;
let client: TorporClient;
beforeAll(async () => {
  daemon = await startDaemon();
  ({ client } = daemon);
  await client.create({ image: "debian", name: "base" });
});
afterAll(() => daemon[Symbol.asyncDispose]());

describe("events of a daemon", () => {
  test("come as a list, page by page", async () => {
    for (const step of ["pause", "resume"] as const) await client[step]("base");
    const first = await client.feed.list({ limit: 2 });
    expect(first.events.map(({ type }) => type)).toEqual(["sandbox.created", "sandbox.paused"]);
    const second = await client.feed.list({ after: first.next, types: ["sandbox.*"] });
    expect(second.events.map(({ type }) => type)).toEqual(["sandbox.resumed"]);
    await expect(client.feed.list({ sandbox: "nope" })).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("come as they happen, until the signal; leaving the loop ends it too", async () => {
    const leaving = new AbortController();
    const types: string[] = [];
    for await (const { type } of client.feed.follow({ after: 0, sandbox: "base", types: ["sandbox.*"], signal: leaving.signal })) {
      types.push(type);
      if (types.length === 3) await client.pause("base");
      if (types.length === 4) leaving.abort();
    }
    expect(types).toEqual(["sandbox.created", "sandbox.paused", "sandbox.resumed", "sandbox.paused"]);
    for await (const event of client.feed.follow({ after: 0 })) {
      expect(event.seq).toBe(1);
      break;
    }
  });

  test("that can't be had are a failure, not an end", async () => {
    const next = (options: Parameters<TorporClient["feed"]["follow"]>[0]) => client.feed.follow(options).next();
    await expect(next({ after: 999_999 })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(next({ sandbox: "nope" })).rejects.toMatchObject({ code: "sandbox_not_found" });
    const nobody = new TorporClient({ socket: "/nowhere/s" });
    await expect(nobody.feed.follow().next()).rejects.toMatchObject({ code: "daemon_unreachable" });
  });
});

/** Each connection is one turn. */
const inTurns =
  (turns: RequestListener[]): RequestListener =>
  (request, answer) =>
    turns.shift()?.(request, answer);

const block = (seq: number) => `id: ${seq}\ndata: ${JSON.stringify({ seq, type: "x" } as Event)}\n\n`;

test("a connection that breaks, in the middle of a block too, goes on after the last event", async () => {
  const asked: unknown[] = [];
  const turn = (text: string, end: "break" | "end" | "stay") => (request: IncomingMessage, answer: ServerResponse) => {
    asked.push(request.headers["last-event-id"]);
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write(text, () => {
      if (end === "break") request.socket.destroy();
      if (end === "end") answer.end();
    });
  };
  const turns = [
    turn(`retry: 1000\nid: 7\n\n${block(8)}${block(9).slice(0, -9)}`, "break"),
    turn(`${block(9)}: alive\nid: 12\n\n`, "end"),
    turn(block(13), "stay"),
  ];
  await against(inTurns(turns), async (other) => {
    const seqs: number[] = [];
    for await (const { seq } of other.feed.follow()) {
      seqs.push(seq);
      if (seq === 13) break;
    }
    expect(seqs).toEqual([8, 9, 13]);
  });
  expect(asked).toEqual([undefined, "8", "12"]);
});

test("a daemon that forgot what comes next says so when the client is back", async () => {
  const gone = { error: { code: "events_gone", message: "gone", details: { after: 8, oldest: 20 } } };
  const turns = [
    (request: IncomingMessage, answer: ServerResponse) => {
      answer.writeHead(200, { "content-type": "text/event-stream" });
      answer.write(block(8), () => request.socket.destroy());
    },
    (_request: IncomingMessage, answer: ServerResponse) => answer.writeHead(410).end(JSON.stringify(gone)),
  ];
  await against(inTurns(turns), async (other) => {
    const events = other.feed.follow({ after: 7 });
    expect((await events.next()).value?.seq).toBe(8);
    await expect(events.next()).rejects.toMatchObject({ code: "events_gone", details: { oldest: 20 } });
  });
});

test("webhooks are made, listed, turned off and on, tested and removed", async () => {
  const { webhook, secret } = await client.webhooks.create({ url: "http://127.0.0.1:1/", types: ["sandbox.*"] });
  expect(secret).toMatch(/^whsec_/);
  const { id } = webhook;
  expect(await client.webhooks.list()).toEqual([webhook]);
  expect((await client.webhooks.pause(id)).state).toBe("paused");
  await client.resume("base");
  expect(await client.webhooks.get(id)).toMatchObject({ state: "paused", pending: 1 });
  expect(await client.webhooks.deliveries(id, { status: "pending", limit: 5 })).toMatchObject([{ type: "sandbox.resumed", attempts: 0 }]);
  expect(await client.webhooks.test(id)).toMatchObject({ delivered: false, status: null });
  expect((await client.webhooks.enable(id)).state).toBe("enabled");
  await client.webhooks.remove(id);
  await expect(client.webhooks.get(id)).rejects.toMatchObject({ code: "webhook_not_found" });
});
