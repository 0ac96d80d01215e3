import type { OperationAnswer, OperationKind } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import type { Lifecycle } from "../sandboxes.ts";
import { crossingOutcomes as table } from "../testing/crossing-outcomes.ts";
import { FakeClock, MemoryWorld } from "../testing/index.ts";
import { crossingTitle } from "../testing/proofs.ts";
import { gateAt } from "../testing/scenes.ts";
import type { Crosser } from "./crossings.ts";

const cells = (Object.keys(table) as OperationKind[]).flatMap((active) =>
  (Object.keys(table[active]) as Crosser[]).map(
    (crosser) => [crossingTitle(crosser, active), crosser, active, table[active][crosser]] as const,
  ),
);

describe("what crosses an operation at work, cell by cell", () => {
  test.each(cells)("%s", async (_title, crosser, active, expected) => {
    const [verb, state] = expected.split(": ");
    const { lifecycle, open, begun } = await inTheMiddleOf(active);
    const before = await activeId(lifecycle);
    const crossing = settled(crossers[crosser](lifecycle));
    await quiet();
    const early = crossing.outcome;
    open();
    const { value, error } = await crossing.promise;
    await begun;
    await lifecycle.idle();
    expect(verbOf(early, value, error, before)).toBe(verb);
    if (!/^sandbox_/.test(state ?? "")) expect(await stateOf(lifecycle)).toBe(state);
    if (verb === "is refused") expect(error).toMatchObject({ code: "operation_active", details: { operation: before } });
    else if (/^sandbox_/.test(state ?? "")) expect(error).toMatchObject({ code: state });
    else expect(error).toBeUndefined();
  });

  const waiting = cells
    .filter(([, crosser, , expected]) => expected.startsWith("waits") && crosser !== "use")
    .map(([, crosser, active]) => [crosser, active] as const);
  test.each(waiting)("%s during %s is refused when its wait is over", async (crosser, active) => {
    const { lifecycle, open, begun, clock } = await inTheMiddleOf(active);
    const crossing = settled(crossers[crosser](lifecycle, 50));
    await quiet();
    expect(crossing.outcome).toBeUndefined();
    clock.advance(50);
    expect((await crossing.promise).error).toMatchObject({ code: "operation_active" });
    open();
    await begun;
    await lifecycle.idle();
  });

  test("a command waits 30 s for a sandbox that is being resumed, and no longer", async () => {
    const { lifecycle, open, begun, clock } = await inTheMiddleOf("resume");
    const using = settled(lifecycle.guest("base"));
    await quiet();
    clock.advance(29_999);
    await quiet();
    expect(using.outcome).toBeUndefined();
    clock.advance(1);
    expect((await using.promise).error).toMatchObject({ code: "operation_active", message: expect.stringContaining("is being resumed") });
    open();
    await begun;
  });

  test.each([
    ["pause", { memory: false }],
    ["resume", { memory: "discard" }],
  ] as const)("another %s than that at work is refused", async (kind, request) => {
    const { lifecycle, open, begun } = await inTheMiddleOf(kind);
    const other = kind === "pause" ? lifecycle.pause("base", request as object) : lifecycle.resume("base", request as object);
    await expect(other).rejects.toMatchObject({ code: "operation_active" });
    open();
    await begun;
  });
});

const gates: Record<OperationKind, string> = {
  create: "create.boot",
  pause: "pause.capture",
  resume: "resume.launch",
  fork: "fork.capture",
  stop: "stop.reclaim",
  start: "start.launch",
  remove: "remove.reclaim",
  snapshot: "snapshot.capture",
  restore: "restore.copy",
  rebase: "rebase.copy",
};

const begin: Record<OperationKind, (lifecycle: Lifecycle) => Promise<unknown>> = {
  create: async (lifecycle) => lifecycle.create({ image: "debian", name: "base" }),
  pause: async (lifecycle) => lifecycle.pause("base"),
  resume: async (lifecycle) => lifecycle.resume("base"),
  fork: async (lifecycle) => lifecycle.fork("base"),
  stop: async (lifecycle) => lifecycle.stop("base"),
  start: async (lifecycle) => lifecycle.start("base"),
  remove: async (lifecycle) => lifecycle.remove("base", { force: true }),
  snapshot: async (lifecycle) => lifecycle.snapshot("base"),
  restore: async (lifecycle) => lifecycle.restore("base", { snapshot: "kept" }),
  rebase: async (lifecycle) => lifecycle.rebase("base", { image: "newer" }),
};

const before: Record<OperationKind, readonly OperationKind[]> = {
  create: [],
  pause: ["create"],
  resume: ["create", "pause"],
  fork: ["create"],
  stop: ["create"],
  start: ["create", "stop"],
  remove: ["create"],
  snapshot: ["create"],
  restore: ["create", "pause"],
  rebase: ["create", "stop"],
};

const crossers: Record<Crosser, (lifecycle: Lifecycle, waitMs?: number) => Promise<unknown>> = {
  pause: (lifecycle, waitMs) => lifecycle.pause("base", {}, wait(waitMs)),
  resume: (lifecycle, waitMs) => lifecycle.resume("base", {}, wait(waitMs)),
  fork: (lifecycle, waitMs) => lifecycle.fork("base", { name: "crossing" }, wait(waitMs)),
  stop: (lifecycle, waitMs) => lifecycle.stop("base", {}, wait(waitMs)),
  start: (lifecycle, waitMs) => lifecycle.start("base", {}, wait(waitMs)),
  remove: (lifecycle, waitMs) => lifecycle.remove("base", { force: true }, wait(waitMs)),
  snapshot: (lifecycle, waitMs) => lifecycle.snapshot("base", { name: "crossing" }, wait(waitMs)),
  restore: (lifecycle, waitMs) => lifecycle.restore("base", { snapshot: "kept" }, wait(waitMs)),
  rebase: (lifecycle, waitMs) => lifecycle.rebase("base", { image: "newer" }, wait(waitMs)),
  use: (lifecycle) => lifecycle.guest("base"),
};

function wait(waitMs: number | undefined) {
  return waitMs === undefined ? {} : { waitMs };
}

async function inTheMiddleOf(kind: OperationKind) {
  const clock = new FakeClock({ auto: false });
  const gate = gateAt(gates[kind]);
  const world = new MemoryWorld({ clock });
  const lifecycle = world.lifecycle(gate.failpoint);
  await keepOne(world);
  for (const each of before[kind]) await begin[each](lifecycle);
  const begun = begin[kind](lifecycle);
  await gate.reached;
  return { lifecycle, clock, open: gate.open, begun };
}

/** What is restored and rebased onto. */
async function keepOne(world: MemoryWorld): Promise<void> {
  await world.images.import({ path: "/newer.tar", reference: "newer" });
  const lifecycle = world.lifecycle();
  await lifecycle.create({ image: "debian", name: "base" });
  await lifecycle.snapshot("base", { name: "kept" });
  await lifecycle.remove("base", { force: true });
}

interface Outcome {
  readonly value?: unknown;
  readonly error?: unknown;
}

function settled(promise: Promise<unknown>) {
  const seen: { outcome: Outcome | undefined; promise: Promise<Outcome> } = {
    outcome: undefined,
    promise: promise.then(
      (value) => (seen.outcome = { value }),
      (error: unknown) => (seen.outcome = { error }),
    ),
  };
  return seen;
}

/** Everything that can go on without the gate has gone on. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function activeId(lifecycle: Lifecycle): Promise<string> {
  return (await lifecycle.get("base")).operation!.id;
}

function verbOf(early: Outcome | undefined, value: unknown, error: unknown, active: string): string {
  if (error !== undefined) return early === undefined ? "waits" : "is refused";
  const { operation } = (value ?? {}) as Partial<OperationAnswer>;
  if (operation?.id === active) return "joins";
  if (operation?.kind === "remove") return "supersedes";
  return early === undefined ? "waits" : "proceeds";
}

async function stateOf(lifecycle: Lifecycle): Promise<string> {
  return (await lifecycle.list()).find(({ name }) => name === "base")?.state ?? "gone";
}
