import { describe, expect, test } from "vitest";
import { MemoryStore, MemoryWorld } from "./testing/index.ts";
import { actions, type Command, checkAgreement, describeWalk, killedRecovery, killedRound, walk, walkSeed } from "./testing/walk.ts";

type Began = Exclude<Command, "cancel" | "drop">;
const lastSteps: Record<Began, Began[]> = {
  create: [],
  pause: ["create"],
  resume: ["create", "pause"],
  fork: ["create"],
  stop: ["create"],
  start: ["create", "stop"],
  remove: ["create"],
  snapshot: ["create"],
  restore: ["create", "snapshot", "pause"],
  rebase: ["create", "stop"],
  spawn: ["create", "snapshot", "remove"],
};
/** The state, and how many children there are. Only an image that was being pulled is given up. */
const outcomes: Record<Began, RegExp> = {
  create: /^(running|removed) and 0$/,
  pause: /^paused and 0$/,
  resume: /^running and 0$/,
  fork: /^running and 2$/,
  stop: /^stopped and 0$/,
  start: /^running and 0$/,
  remove: /^removed and 0$/,
  snapshot: /^running and 0$/,
  restore: /^paused and 0$/,
  rebase: /^stopped and 0$/,
  spawn: /^running and 0$/,
};

describe("whatever is asked, and wherever the daemon is killed", () => {
  test("records and host agree after recovery, and nothing is lost or left", { timeout: 300_000 }, async () => {
    const seed = walkSeed(process.env.TORPOR_WALK_SEED);
    const figures = await walk(async () => new MemoryStore(), { runs: Number(process.env.TORPOR_WALKS ?? 2000), seed });
    console.log(describeWalk(figures, seed));
  });

  test.each(Object.entries(lastSteps) as [Began, Began[]][])(
    "each step of %s can be the last of a daemon, and the next finishes it",
    async (command, prepare) => {
      for (let killAfter = 0; ; killAfter++) {
        const world = new MemoryWorld();
        for (const each of prepare) await actions[each](world.lifecycle(), "one", 1);
        const ended = await killedRound(world, [{ command, target: 0, mode: 1 }], killAfter, false);
        await checkAgreement(world, new Map());
        const [sandbox, ...children] = await world.store.listSandboxes();
        expect(`${sandbox?.state ?? "removed"} and ${children.length}`, `killed at step ${killAfter}`).toMatch(outcomes[command]);
        if (ended) return;
      }
    },
  );

  test("an operation that kills each daemon is undone in the end", async () => {
    const world = new MemoryWorld();
    await actions.create(world.lifecycle(), "one");
    const captureOfPause = 4;
    await killedRound(world, [{ command: "pause", target: 0, mode: 1 }], captureOfPause, false);
    for (let daemon = 0; daemon < 2; daemon++) await killedRecovery(world, captureOfPause);
    const [sandbox] = await world.store.listSandboxes();
    const attempts = async () => (await world.store.listOperations(sandbox!.id))[0];
    expect(await attempts()).toMatchObject({ kind: "pause", status: "running", attempt: 3, actor: "recovery" });
    await checkAgreement(world, new Map());
    expect(await attempts()).toMatchObject({ status: "failed", attempt: 4, error: { code: "shutting_down" } });
    expect(await world.store.findSandbox("one")).toMatchObject({ state: "running", generation: 1 });
  });
});
