import { describe, expect, test } from "vitest";
import { preparedFor, scenes, type Variant } from "../testing/operation-scenes.ts";
import { phaseOutcomes } from "../testing/phase-outcomes.ts";
import { phasesTitle } from "../testing/proofs.ts";

describe("the phases of an operation, and how long it can be given up", () => {
  const variants = (Object.keys(phaseOutcomes) as Variant[]).map((variant) => [phasesTitle(variant), variant] as const);
  test.each(variants)("%s", async (_title, variant) => {
    const { phases, cancelable } = phaseOutcomes[variant];
    const world = await preparedFor(variant);
    const [kind = ""] = variant.split(/[ ,]/);
    const seen: [phase: string, cancelable: boolean][] = [];
    const lifecycle = world.lifecycle(async (name) => {
      const [of, phase = "", ...more] = name.split(".");
      if (of !== kind || more.length > 0 || ["commit", "ended", "undo"].includes(phase)) return;
      const [newest] = await lifecycle.operations("base");
      seen.push([phase, newest?.cancelable === true]);
    });
    await lifecycle.recover();
    await scenes[variant].ask(lifecycle, world);
    await lifecycle.idle();
    expect(seen).toEqual(phases.map((phase, place) => [phase, place < cancelable]));
  });
});
