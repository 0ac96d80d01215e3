import { isSigned, type Received, WebhookReceiver } from "@torpor/daemon/testing";
import { type Event, TorporClient } from "@torpor/sdk";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "./harness/inside.ts";
import { quietPort } from "./harness/quiet-port.ts";
import { TestDaemon } from "./harness/test-daemon.ts";

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({ args: ["--webhook-allow", "127.0.0.1"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test("a receiver that is down while the daemon is killed gets each event once and in order when it is back; so does a reader", async () => {
  const port = await quietPort();
  const { webhook, secret } = await daemon.client.webhooks.create({ url: `http://127.0.0.1:${port}/hook`, types: ["sandbox.*"] });
  onTestFinished(() => daemon.client.webhooks.remove(webhook.id));
  const reading = read();
  const name = await createSandbox("receiver-down");
  await daemon.client.pause(name);
  await daemon.kill();
  await daemon.launch();
  await daemon.client.resume(name);
  await daemon.client.stop(name);
  const waiting = await eventually(
    () => daemon.client.webhooks.get(webhook.id),
    ({ pending }) => pending === 4,
  );
  expect(waiting).toMatchObject({ state: "enabled", dead: 0 });
  await using receiver = await WebhookReceiver.open({ port });
  await daemon.client.webhooks.enable(webhook.id);
  const received = await receiver.came(4);
  await delivered(webhook.id);
  const { events } = await daemon.client.feed.list({ sandbox: name, types: ["sandbox.*"] });
  expect(events.map(({ type }) => type)).toEqual(["sandbox.created", "sandbox.paused", "sandbox.resumed", "sandbox.stopped"]);
  expect(received.map(eventOf)).toEqual(events);
  for (const one of received) expect(isSigned(one, secret)).toBe(true);
  expect(daemon.log()).not.toContain(secret);
  expect(await reading(events.length)).toEqual(events);
});

test("a message on its way when the daemon is killed comes again with the same id; meanwhile a pause does not wait for its answer", async () => {
  let answers = false;
  await using receiver = await WebhookReceiver.open({
    answer: (response) => {
      if (answers) response.writeHead(204).end();
    },
  });
  const name = await createSandbox("receiver-hangs");
  const { webhook, secret } = await daemon.client.webhooks.create({ url: receiver.url, sandbox: name });
  onTestFinished(() => daemon.client.webhooks.remove(webhook.id));
  await daemon.client.stop(name);
  await daemon.client.start(name);
  const [hanging] = await receiver.came(1);
  const { operation } = await daemon.client.pause(name);
  expect(operation.status).toBe("succeeded");
  // Half a second for the receiver, and its own work.
  expect((operation.result.phases as Record<string, number>).quiesce).toBeGreaterThan(400);
  expect(receiver.received).toHaveLength(1);
  await daemon.kill();
  answers = true;
  await daemon.launch();
  const received = await receiver.came(4);
  await delivered(webhook.id);
  expect(received.map(({ headers }) => headers["webhook-id"])[1]).toBe(hanging?.headers["webhook-id"]);
  expect(received.map((one) => eventOf(one).type)).toEqual(["sandbox.stopped", "sandbox.stopped", "sandbox.started", "sandbox.paused"]);
  for (const one of received) expect(isSigned(one, secret)).toBe(true);
});

async function createSandbox(name: string): Promise<string> {
  await daemon.client.create({ image: "debian", name });
  onTestFinished(async () => void (await daemon.client.remove(name, { force: true })));
  return name;
}

function eventOf({ body }: Received): Event {
  return (JSON.parse(body) as { data: Event }).data;
}

async function delivered(id: string): Promise<void> {
  while ((await daemon.client.webhooks.get(id)).pending > 0);
}

/** Follows events on a connection of its own from now on; what it gives reads so many. */
function read(): (count: number) => Promise<readonly Event[]> {
  const client = new TorporClient({ socket: daemon.socket });
  const events = client.feed.follow({ after: 0, types: ["sandbox.*"] });
  onTestFinished(() => client.close());
  const first = events.next();
  return async (count) => {
    const seen: Event[] = [];
    for (let next = await first; next.done !== true; next = await events.next()) {
      seen.push(next.value);
      if (seen.length === count) break;
    }
    await events.return(undefined);
    return seen;
  };
}
