import { describe, expect, test } from "vitest";
import { broken, gateAt } from "../testing/scenes.ts";
import { TimedWorld } from "../testing/timed-world.ts";

const resumes = async ({ lifecycle }: TimedWorld) => (await lifecycle.operations("base")).filter(({ kind }) => kind === "resume");

describe("a paused sandbox that wakes for calls", () => {
  test("twenty at once make one resume (P19)", async () => {
    const timed = await paused();
    await Promise.all(Array.from({ length: 20 }, (_, index) => timed.exec(`se_${index}`)));
    expect(await resumes(timed)).toMatchObject([{ actor: "autoResume", status: "succeeded" }]);
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 2, restored: "memory" });
    expect(await (await timed.lifecycle.guest("base")).sessions.list()).toHaveLength(20);
  });

  test("for a file call too; one that is not set to it stays paused", async () => {
    const timed = await paused();
    const { files } = await timed.lifecycle.guest("base");
    expect(await files.stat("/", {})).toMatchObject({ type: "directory" });
    await timed.lifecycle.update("base", { autoResume: false });
    await timed.lifecycle.pause("base");
    await expect(timed.exec("se_a")).rejects.toMatchObject({ code: "sandbox_not_running" });
    expect(await timed.state()).toBe("paused");
  });

  test("a call during somebody's pause waits for it and wakes it (E28)", async () => {
    const gate = gateAt("pause.quiesce");
    const timed = await TimedWorld.open(gate.failpoint);
    await timed.create({ autoResume: true });
    const pausing = timed.lifecycle.pause("base");
    await gate.reached;
    const started = timed.exec("se_a");
    gate.open();
    await started;
    expect((await pausing).operation.status).toBe("succeeded");
    expect(await timed.lifecycle.get("base")).toMatchObject({ state: "running", generation: 2 });
  });

  test("after a resume that failed calls are refused for 1 s, 2 s, 4 s; a resume by hand ends that", async () => {
    const timed = await paused();
    for (const pauseMs of [1000, 2000, 4000]) {
      timed.world.engine.failNext("restore", broken);
      timed.world.engine.failNext("restore", broken);
      const failures = await Promise.all(Array.from({ length: 5 }, () => timed.exec("se_a").catch((error: unknown) => error)));
      for (const failure of failures) {
        expect(failure).toMatchObject({ code: "resume_failed", status: 503, details: { cause: "engine_failed", retryAfterMs: pauseMs } });
      }
      const before = (await resumes(timed)).length;
      await timed.pass(pauseMs - 1);
      await expect(timed.exec("se_a")).rejects.toMatchObject({ code: "resume_failed", details: { retryAfterMs: 1 } });
      expect(await resumes(timed)).toHaveLength(before);
      await timed.pass(1);
    }
    timed.world.engine.failNext("restore", broken);
    timed.world.engine.failNext("restore", broken);
    await expect(timed.exec("se_a")).rejects.toMatchObject({ details: { retryAfterMs: 8000 } });
    await timed.lifecycle.resume("base");
    await timed.lifecycle.pause("base");
    await timed.exec("se_a");
    expect(await timed.state()).toBe("running");
  });

  test("a call that waits no longer is told so, and the resume goes on", async () => {
    const gate = gateAt("resume.launch");
    const timed = await TimedWorld.open(gate.failpoint);
    await timed.create({ autoResume: true });
    await timed.lifecycle.pause("base");
    const used = timed.lifecycle.guest("base", { waitMs: 5000 });
    const refused = expect(used).rejects.toMatchObject({ code: "sandbox_waking", status: 503, details: { retryAfterMs: 1000 } });
    await gate.reached;
    timed.clock.advance(5000);
    await refused;
    gate.open();
    await timed.becomes("running");
  });

  test("a removal meanwhile: the call is told that it is gone", async () => {
    const gate = gateAt("resume.launch");
    const timed = await TimedWorld.open(gate.failpoint);
    await timed.create({ autoResume: true });
    await timed.lifecycle.pause("base");
    const used = expect(timed.lifecycle.guest("base")).rejects.toMatchObject({
      code: expect.stringMatching(/sandbox_not_found|operation_active/),
    });
    await gate.reached;
    const removed = timed.lifecycle.remove("base", { force: true });
    gate.open();
    await removed;
    await used;
  });
});

async function paused(): Promise<TimedWorld> {
  const timed = await TimedWorld.open();
  await timed.create({ autoResume: true });
  await timed.lifecycle.pause("base");
  return timed;
}
