import { describe, expect, test } from "vitest";
import { MemoryWorld } from "../testing/memory-world.ts";
import { webhookRecord } from "../testing/records.ts";
import { deliveriesOf } from "./deliveries-of.ts";

const url = "https://receiver.example/hook";

describe("webhooks", () => {
  test("a secret is told once, and by nothing afterwards", async () => {
    const { webhooks } = new MemoryWorld().lifecycle();
    const made = await webhooks.create({ url, description: "for the pager", types: ["sandbox.*"], labels: { team: "a" } });
    expect(made.secret).toMatch(/^whsec_/);
    expect(made.webhook).toMatchObject({ url, types: ["sandbox.*"], labels: { team: "a" }, state: "enabled", pending: 0, dead: 0 });
    const given = await webhooks.create({ url, secret: webhookRecord().secret });
    expect(given.secret).toBe(webhookRecord().secret);
    const id = made.webhook.id;
    const answers = [await webhooks.list(), await webhooks.get(id), await webhooks.pause(id), await webhooks.enable(id), made.webhook];
    expect(JSON.stringify(answers)).not.toContain("whsec_");
  });

  test("A01: the same call with the same key makes one, also at once, and gives the same answer", async () => {
    const world = new MemoryWorld();
    const { webhooks } = world.lifecycle();
    const once = { key: "k", fingerprint: "f" };
    const answers = await Promise.all([webhooks.create({ url }, { once }), webhooks.create({ url }, { once })]);
    answers.push(await webhooks.create({ url }, { once }));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await webhooks.list()).toHaveLength(1);
    await expect(webhooks.create({ url: `${url}2` }, { once: { key: "k", fingerprint: "g" } })).rejects.toMatchObject({
      code: "idempotency_conflict",
    });
  });

  test("what is wrong is refused, and nothing has changed", async () => {
    const world = new MemoryWorld();
    const { webhooks } = world.lifecycle();
    await expect(webhooks.create({ url: "http://refused.example/" })).rejects.toMatchObject({ code: "target_refused" });
    await expect(webhooks.create({ url, sandbox: "nobody" })).rejects.toMatchObject({ code: "sandbox_not_found" });
    for (const call of [webhooks.get, webhooks.remove, webhooks.pause, webhooks.enable, webhooks.test, webhooks.deliveries])
      await expect(call("wh_none")).rejects.toMatchObject({ code: "webhook_not_found" });
    expect(await webhooks.list()).toEqual([]);
    for (let count = 0; count < 100; count++) await webhooks.create({ url });
    await expect(webhooks.create({ url })).rejects.toMatchObject({ code: "too_many_webhooks" });
  });

  test("a test sends one message, and tells what came of it; paused or not", async () => {
    const world = new MemoryWorld();
    const { webhooks } = world.lifecycle();
    const { webhook } = await webhooks.create({ url });
    await webhooks.pause(webhook.id);
    expect(await webhooks.test(webhook.id)).toMatchObject({ delivered: false, status: null, error: "nothing answers" });
    world.receivers.at(url, () => ({ status: 200, error: null }));
    expect(await webhooks.test(webhook.id)).toMatchObject({ delivered: true, status: 200, error: null });
    expect(JSON.parse(world.receivers.posts[1]!.body)).toMatchObject({ type: "webhook.test", data: { webhookId: webhook.id } });
    expect(await webhooks.deliveries(webhook.id)).toEqual([]);
  });

  test("a filter by sandbox takes a name and keeps to the sandbox, over its removal", async () => {
    const world = new MemoryWorld();
    const lifecycle = world.lifecycle();
    for (const name of ["one", "two"]) await lifecycle.create({ image: "debian", name });
    const { webhook } = await lifecycle.webhooks.create({ url, sandbox: "one" });
    for (const name of ["two", "one"]) await lifecycle.remove(name, { force: true });
    await lifecycle.create({ image: "debian", name: "one" });
    const deliveries = await lifecycle.webhooks.deliveries(webhook.id);
    expect(deliveries).toMatchObject([{ type: "sandbox.removed", sandboxId: webhook.sandboxId }]);
    expect(JSON.stringify(deliveries)).not.toContain("body");
  });
});

test("an event is for the webhooks whose types, sandbox and labels it has", () => {
  const event = { seq: 7, sandboxId: "sb_a", operationId: null, type: "sandbox.paused", data: {}, at: "2026-01-01T00:00:00.000Z" };
  const cases: [Parameters<typeof webhookRecord>[0], boolean][] = [
    [{}, true],
    [{ types: ["sandbox.paused"] }, true],
    [{ types: ["sandbox.pause"] }, false],
    [{ types: ["memory_lost", "sandbox.*"] }, true],
    [{ types: ["sandbox"] }, false],
    [{ sandboxId: "sb_a" }, true],
    [{ sandboxId: "sb_b" }, false],
    [{ labels: { team: "a" } }, true],
    [{ labels: { team: "a", stage: "x" } }, false],
    [{ labels: { team: "b" } }, false],
    [{ types: ["sandbox.*"], sandboxId: "sb_a", labels: { team: "a" } }, true],
    [{ state: "paused" }, true],
    [{ team: "red" }, true],
    [{ team: "blue" }, false],
    [{ team: null }, true],
  ];
  for (const [webhook, expected] of cases)
    expect(deliveriesOf([webhookRecord(webhook)], event, { labels: { team: "a" }, team: "red" }), JSON.stringify(webhook)).toHaveLength(
      expected ? 1 : 0,
    );
});
