import { describe, expect, onTestFinished, test } from "vitest";
import type { MemoryWorld } from "../testing/index.ts";
import { preparedFor, scenes } from "../testing/operation-scenes.ts";
import { broken } from "../testing/scenes.ts";
import { checkAgreement } from "../testing/walk.ts";
import { type FailpointEntry, failpoints } from "./failpoints.ts";

const operations = Object.keys(scenes) as FailpointEntry["operation"][];

describe("the table of failpoints", () => {
  test.each(operations)("has exactly those that %s passes, in their order", async (operation) => {
    const world = await preparedFor(operation);
    const passed: string[] = [];
    await ask(world, operation, async (name) => void passed.push(name));
    expect(ofKind(operation, passed)).toEqual(names(operation, false));
  });

  test.each(operations)("has exactly those that %s passes when it fails", async (operation) => {
    const world = await preparedFor(operation);
    const passed: string[] = [];
    await ask(world, operation, failFirst(operation, passed));
    const [first, ...undoing] = ofKind(operation, passed);
    expect(first).toBe(names(operation, false)[0]);
    expect(undoing).toEqual([...names(operation, true), expect.stringMatching(/\.ended$/)]);
  });

  test.each(failpoints)(
    "says what becomes of a $operation whose daemon is killed at $name",
    async ({ operation, name, failing, allowed }) => {
      const world = await preparedFor(operation);
      let armed = false;
      const { lifecycle, kill, quiet } = world.daemon(async (reached) => {
        if (!armed) return;
        if (failing && reached === names(operation, false)[0]) throw broken;
        if (reached === name) {
          kill();
          died();
        }
      });
      let died = (): void => {};
      const dead = new Promise<void>((resolve) => {
        died = resolve;
      });
      await lifecycle.recover();
      armed = true;
      scenes[operation].ask(lifecycle, world).catch(() => {});
      await dead;
      await quiet();
      await checkAgreement(world, new Map());
      const sandbox = await world.store.findSandbox("base");
      expect(allowed).toContain(sandbox?.state ?? "absent");
    },
  );
});

/** Until it has ended, whatever it is. */
async function ask(world: MemoryWorld, operation: FailpointEntry["operation"], failpoint: (name: string) => Promise<void>): Promise<void> {
  const lifecycle = world.lifecycle(failpoint);
  onTestFinished(() => lifecycle.idle());
  await lifecycle.recover();
  await scenes[operation].ask(lifecycle, world).catch(() => {});
  await lifecycle.idle();
}

function failFirst(operation: FailpointEntry["operation"], passed: string[]): (name: string) => Promise<void> {
  return async (name) => {
    passed.push(name);
    if (name === names(operation, false)[0] && passed.filter((each) => each === name).length === 1) throw broken;
  };
}

function names(operation: FailpointEntry["operation"], failing: boolean): string[] {
  return failpoints.filter((point) => point.operation === operation && point.failing === failing).map(({ name }) => name);
}

/** A fork passes those of its children's creates too. */
function ofKind(operation: FailpointEntry["operation"], passed: readonly string[]): string[] {
  const [kind = ""] = (names(operation, false)[0] ?? "").split(".");
  return passed.filter((name) => name.startsWith(`${kind}.`));
}
