import { describe, expect, test } from "vitest";
import type { Lifecycle } from "../sandboxes.ts";
import { preparedFor, scenes, variantOf } from "../testing/operation-scenes.ts";
import { courseTitle } from "../testing/proofs.ts";
import { broken, gateAt } from "../testing/scenes.ts";
import { courseOutcomes } from "../testing/state-outcomes.ts";
import { type Command, commands } from "./states.ts";

/** The step before its first phase, at which nothing of it is done. */
const firstSteps: Readonly<Record<Command, string>> = {
  pause: "pause.quiesce",
  resume: "resume.launch",
  fork: "fork.quiesce",
  stop: "stop.shutdown",
  start: "start.launch",
  remove: "remove.reclaim",
  snapshot: "snapshot.quiesce",
  restore: "restore.copy",
  rebase: "rebase.reclaim",
};

describe("from state to state", () => {
  const named = (part: "meanwhile" | "success" | "failure") => commands.map((command) => [courseTitle(command, part), command] as const);

  test.each(named("meanwhile"))("%s", async (_title, command) => {
    const gate = gateAt(firstSteps[command]);
    const { lifecycle, done } = await ask(command, gate.failpoint);
    await gate.reached;
    expect(await lifecycle.get("base")).toMatchObject({ state: courseOutcomes[command].meanwhile, operation: { kind: command } });
    gate.open();
    await done;
  });

  test.each(named("success"))("%s", async (_title, command) => {
    const { lifecycle, done } = await ask(command);
    await done;
    expect(await stateOf(lifecycle)).toBe(courseOutcomes[command].success);
  });

  test.each(named("failure"))("%s", async (_title, command) => {
    let fails = true;
    const { lifecycle, world, before, done } = await ask(command, async (name) => {
      if (fails && name === firstSteps[command]) throw broken;
    });
    await done;
    fails = false;
    const { state, failure, checkpoint, image } = await lifecycle.get("base");
    expect([state, image, checkpoint]).toEqual([courseOutcomes[command].failure, before.image, before.checkpoint]);
    const [newest] = await lifecycle.operations("base");
    expect(newest).toMatchObject({ kind: command, status: "failed", error: { code: "engine_failed" } });
    if (["resume", "stop", "start", "remove"].includes(command)) expect(failure).toMatchObject({ code: "engine_failed" });
    // What was asked for goes through when the cause is gone.
    await scenes[variantOf(command)].ask(lifecycle, world);
    expect(await stateOf(lifecycle)).toBe(courseOutcomes[command].success);
  });

  test.each([
    ["pause", "killed", 137, "failed"],
    ["pause", "exited", 0, "stopped"],
    ["snapshot", "killed", 137, "failed"],
    ["snapshot", "exited", 0, "stopped"],
  ] as const)("%s whose runtime ends meanwhile (%s, %i): %s", async (command, reason, exitCode, state) => {
    const gate = gateAt(`${command}.capture`);
    const { lifecycle, world, before, done } = await ask(command, gate.failpoint);
    await gate.reached;
    world.engine.end(before.runtimeId ?? "", { reason, exitCode, message: "it ended" });
    gate.open();
    await done;
    await expect.poll(() => stateOf(lifecycle)).toBe(state);
    expect([await world.checkpoints.list(), await world.store.listSnapshots({})]).toEqual([[], []]);
  });
});

async function ask(command: Command, failpoint?: (name: string) => Promise<void>) {
  const variant = variantOf(command);
  const world = await preparedFor(variant);
  const lifecycle = world.lifecycle(failpoint);
  await lifecycle.recover();
  const before = await lifecycle.get("base");
  const asked = scenes[variant].ask(lifecycle, world);
  const done = asked.catch(() => {}).then(() => lifecycle.idle());
  return { world, lifecycle, before, done };
}

async function stateOf(lifecycle: Lifecycle): Promise<string> {
  return (await lifecycle.list()).find(({ name }) => name === "base")?.state ?? "gone";
}
