import { describe, expect, test } from "vitest";
import type { WakeCall } from "../ports/wake-store.ts";
import { signInMemory } from "../testing/memory-tokens.ts";
import { broken } from "../testing/scenes.ts";
import { dayMs, minuteMs, TimedWorld } from "../testing/timed-world.ts";

const queue = "/var/lib/torpor/wakes";

describe("a wake at a time", () => {
  test("resumes a paused sandbox then, and leaves word in it", async () => {
    const timed = await paused();
    const { id, nextAt } = await timed.lifecycle.createWake("base", { afterMs: 10 * minuteMs, label: "look" });
    expect(nextAt).toBe(timed.at(10 * minuteMs));
    await timed.pass(10 * minuteMs - 1);
    expect(await timed.state()).toBe("paused");
    await timed.pass(1);
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 2 });
    expect(await timed.lifecycle.operations("base")).toMatchObject([{ kind: "resume", actor: "wake" }, {}, {}]);
    const [word] = await read(timed);
    expect(word).toMatchObject({ seq: 1, wake: id, kind: "at", label: "look", dueAt: nextAt, late: false });
    expect(await timed.lifecycle.listWakes("base")).toEqual({ wakes: [], pending: 0 });
    expect((await timed.lifecycle.events("base")).at(-1)).toMatchObject({ type: "sandbox.woken", data: { wake: id, late: false } });
  });

  test("that was missed comes once, late, and says so", async () => {
    const timed = await paused();
    await timed.lifecycle.createWake("base", { at: timed.at(minuteMs) });
    await timed.lifecycle.close();
    await timed.pass(7 * dayMs);
    await timed.restart();
    await timed.becomes("running");
    await timed.settled();
    expect(await read(timed)).toMatchObject([{ late: true, lateMs: 7 * dayMs - minuteMs }]);
    await timed.restart();
    await timed.settled();
    expect(await read(timed)).toHaveLength(1);
  });

  test("of a sandbox that runs leaves word only", async () => {
    const timed = await TimedWorld.open();
    await timed.create();
    await timed.lifecycle.createWake("base", { afterMs: minuteMs });
    await timed.pass(minuteMs);
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 1 });
    expect(await read(timed)).toHaveLength(1);
  });

  test("of a stopped one waits until it is started", async () => {
    const timed = await paused();
    await timed.lifecycle.createWake("base", { afterMs: minuteMs });
    await timed.lifecycle.stop("base");
    await timed.pass(dayMs);
    expect(await timed.lifecycle.listWakes("base")).toMatchObject({ pending: 1 });
    expect(await timed.state()).toBe("stopped");
    await timed.lifecycle.start("base");
    await timed.settled();
    expect(await read(timed)).toHaveLength(1);
  });
});

describe("a wake by a schedule", () => {
  test("comes each time, over restarts; what was missed comes once", async () => {
    const timed = await paused();
    await timed.lifecycle.createWake("base", { cron: "*/10 * * * *" });
    await timed.pass(10 * minuteMs);
    await timed.lifecycle.pause("base");
    await timed.restart();
    await timed.pass(10 * minuteMs);
    expect(await read(timed)).toMatchObject([{ dueAt: "2026-01-01T00:10:00.000Z" }, { dueAt: "2026-01-01T00:20:00.000Z" }]);
    await timed.lifecycle.close();
    await timed.pass(55 * minuteMs);
    await timed.restart();
    await timed.settled();
    expect((await read(timed)).slice(2)).toMatchObject([{ dueAt: "2026-01-01T00:30:00.000Z", late: true, lateMs: 45 * minuteMs }]);
    expect((await timed.lifecycle.listWakes("base")).wakes).toMatchObject([{ nextAt: "2026-01-01T01:20:00.000Z" }]);
  });

  test("comes no more once it is removed", async () => {
    const timed = await paused();
    const { id } = await timed.lifecycle.createWake("base", { cron: "*/10 * * * *" });
    await timed.lifecycle.removeWake("base", id);
    await timed.pass(dayMs);
    expect(await timed.state()).toBe("paused");
    await expect(timed.lifecycle.removeWake("base", id)).rejects.toMatchObject({ code: "wake_not_found" });
  });
});

describe("a wake by a call", () => {
  test("is stored before the answer, and delivered in order with all that came", async () => {
    const timed = await paused();
    const { path } = await timed.lifecycle.createWake("base", { url: true });
    const token = path!.slice("/v1/wake/".length);
    await Promise.all(["one", "two", "three"].map((text) => timed.lifecycle.callWake(token, callOf(text))));
    await timed.settled();
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 2 });
    const words = await read(timed);
    expect(words.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    for (const { place } of words) {
      expect(await text(timed, `${place}/method`)).toBe("POST\n");
      expect(await text(timed, `${place}/headers`)).toBe("X-A: 1\nX-A: 2\n");
    }
    const bodies = await Promise.all(words.map(({ place }) => text(timed, `${place}/body`)));
    expect(bodies.sort()).toEqual(["one", "three", "two"]);
    await timed.lifecycle.removeWake("base", (await timed.lifecycle.listWakes("base")).wakes[0]!.id);
    await expect(timed.lifecycle.callWake(token, callOf("four"))).rejects.toMatchObject({ code: "wake_not_found" });
  });

  test("that must be signed is refused without, and with a wrong signature", async () => {
    const timed = await paused();
    const { path, secret } = await timed.lifecycle.createWake("base", { url: true, signed: true });
    const call = (signature?: string) =>
      timed.lifecycle.callWake(path!.slice("/v1/wake/".length), {
        ...callOf("x"),
        headers: signature === undefined ? [] : [["X-Hub-Signature-256", signature]],
      });
    await expect(call()).rejects.toMatchObject({ code: "unauthorized", message: expect.stringContaining("is not") });
    await expect(call(`sha256=${"0".repeat(64)}`)).rejects.toMatchObject({ code: "unauthorized" });
    expect(await timed.lifecycle.listWakes("base")).toMatchObject({ pending: 0 });
    await call(signInMemory(secret!, btoa("x")));
    expect(JSON.stringify(await timed.lifecycle.listWakes("base"))).not.toContain(secret);
  });

  test("of a removed sandbox is refused, and what was stored for it is gone", async () => {
    const timed = await paused();
    const { path } = await timed.lifecycle.createWake("base", { url: true });
    await timed.lifecycle.stop("base");
    const token = path!.slice("/v1/wake/".length);
    await timed.lifecycle.callWake(token, callOf("x"));
    await timed.lifecycle.remove("base");
    await expect(timed.lifecycle.callWake(token, callOf("x"))).rejects.toMatchObject({ code: "wake_not_found", status: 404 });
    await expect(timed.lifecycle.createWake("base", { url: true })).rejects.toMatchObject({ code: "sandbox_not_found" });
    expect(await timed.world.store.countWakeups()).toEqual(new Map());
  });

  test("a resume that fails is tried again after 1 s, 2 s; nothing is lost", async () => {
    const timed = await paused();
    const { path } = await timed.lifecycle.createWake("base", { url: true });
    for (const _ of [1, 2, 3, 4]) timed.world.engine.failNext("restore", broken);
    await timed.lifecycle.callWake(path!.slice("/v1/wake/".length), callOf("x"));
    await timed.settled();
    await timed.pass(1000);
    expect(await timed.state()).toBe("paused");
    await timed.pass(2000);
    expect(await timed.state()).toBe("running");
    expect(await read(timed)).toHaveLength(1);
  });

  test("a daemon that is killed at any step of a delivery: the sandbox has it once, and an acknowledged one does not come back", async () => {
    for (const acknowledge of [false, true]) {
      for (let turns = 0; turns < 160; turns += acknowledge ? 9 : 5) {
        const timed = await paused();
        const { path } = await timed.lifecycle.createWake("base", { url: true });
        const accepted = timed.lifecycle.callWake(path!.slice("/v1/wake/".length), callOf("x"));
        await accepted;
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        await timed.crash();
        if (acknowledge) {
          const running = (await timed.state()) === "running";
          const words = running ? await read(timed) : [];
          for (const { place } of words) await (await timed.lifecycle.guest("base")).files.remove(place, { recursive: true });
          await timed.settled();
          if (words.length > 0) expect(await read(timed)).toEqual([]);
        }
        await timed.settled();
        if (!acknowledge) expect((await read(timed)).map(({ kind }) => kind)).toEqual(["url"]);
        expect(await timed.lifecycle.listWakes("base")).toMatchObject({ pending: 0 });
      }
    }
  });
});

describe("what would never come is refused, with nothing changed", () => {
  test.each([
    [{ at: "2025-12-31T23:59:59Z" }, /in the past/],
    [{ cron: "0 9 30 2 *" }, /never comes/],
    [{ cron: "rubbish" }, /can't be read/],
    [{ cron: "* * * * *", timezone: "Mars/Olympus" }, /zone/],
  ])("%j", async (request, message) => {
    const timed = await paused();
    await expect(timed.lifecycle.createWake("base", request)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringMatching(message),
    });
    expect(await timed.lifecycle.listWakes("base")).toEqual({ wakes: [], pending: 0 });
  });

  test("more than a hundred of one sandbox", async () => {
    const timed = await paused();
    for (let count = 0; count < 100; count++) await timed.lifecycle.createWake("base", { url: true });
    await expect(timed.lifecycle.createWake("base", { url: true })).rejects.toMatchObject({ code: "too_many_wakes" });
  });
});

async function paused(): Promise<TimedWorld> {
  const timed = await TimedWorld.open();
  await timed.create();
  await timed.lifecycle.pause("base");
  return timed;
}

function callOf(body: string): WakeCall {
  return {
    method: "POST",
    query: "",
    headers: [
      ["X-A", "1"],
      ["X-A", "2"],
    ],
    body: btoa(body),
  };
}

async function text({ lifecycle }: TimedWorld, path: string): Promise<string> {
  const { content } = await (await lifecycle.guest("base")).files.read(path, {});
  let all = "";
  for await (const chunk of content) all += new TextDecoder().decode(chunk);
  return all;
}

/** What programs in the sandbox find in the queue, in its order. */
async function read(timed: TimedWorld): Promise<(Record<string, unknown> & { place: string })[]> {
  const { files } = await timed.lifecycle.guest("base");
  const found = await files.list(queue, {}).catch(() => []);
  const paths = found.map(({ path }) => path).filter((path) => path.endsWith("/wake.json") && !path.includes("/."));
  return Promise.all(
    paths.sort().map(async (path) => ({
      ...(JSON.parse(await text(timed, path)) as Record<string, unknown>),
      place: path.slice(0, -"/wake.json".length),
    })),
  );
}
