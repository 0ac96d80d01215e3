import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { settledStates } from "./lifecycle/states.ts";
import type { SandboxRecord } from "./ports/store.ts";
import type { Lifecycle } from "./sandboxes.ts";
import { MemoryWorld } from "./testing/index.ts";

type Action = { readonly command: Command; readonly target: number; readonly mode: number };
const names = ["one", "two"] as const;
const actions = {
  create: (lifecycle: Lifecycle, name: string) => lifecycle.create({ image: "python:3.12", name }),
  pause: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.pause(name, { memory: mode !== 0 }),
  resume: (lifecycle: Lifecycle, name: string, mode: number) =>
    lifecycle.resume(name, { memory: (["prefer", "require", "discard"] as const)[mode]! }),
  fork: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.fork(name, { memory: mode !== 0, count: mode + 1 }),
  stop: (lifecycle: Lifecycle, name: string) => lifecycle.stop(name),
  start: (lifecycle: Lifecycle, name: string) => lifecycle.start(name),
  remove: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.remove(name, { force: mode !== 0 }),
} as const;
type Command = keyof typeof actions;

/** So many steps of operations until the daemon dies; each round ends in a kill and a recovery. */
const round = fc.record({
  actions: fc.array(
    fc.record({
      command: fc.constantFrom<Command>("create", "pause", "pause", "resume", "resume", "fork", "stop", "start", "remove"),
      target: fc.nat(1),
      mode: fc.nat(2),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  killAfter: fc.nat(30),
  /** The next daemon dies too, in its recovery. */
  killRecoveryAfter: fc.option(fc.nat(12)),
  together: fc.boolean(),
});

const lastSteps: Record<Command, Command[]> = {
  create: [],
  pause: ["create"],
  resume: ["create", "pause"],
  fork: ["create"],
  stop: ["create"],
  start: ["create", "stop"],
  remove: ["create"],
};
/** The state, and how many children there are. Only an image that was being pulled is given up. */
const outcomes: Record<Command, RegExp> = {
  create: /^(running|removed) and 0$/,
  pause: /^paused and 0$/,
  resume: /^running and 0$/,
  fork: /^running and 2$/,
  stop: /^stopped and 0$/,
  start: /^running and 0$/,
  remove: /^removed and 0$/,
};

interface Known {
  readonly path: string;
  readonly sessionId: string;
  readonly generation: number;
}

describe("whatever is asked, and wherever the daemon is killed", () => {
  test("records and host agree after recovery, and nothing is lost or left", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 8 }), async (rounds) => {
        const world = new MemoryWorld();
        const known = new Map<string, Known>();
        for (const name of names) await world.lifecycle().create({ image: "debian", name });
        await checkAgreement(world, known);
        for (const { actions: asked, killAfter, together, killRecoveryAfter } of rounds) {
          await killedRound(world, asked, killAfter, together);
          if (killRecoveryAfter !== null) await killedRecovery(world, killRecoveryAfter);
          await checkAgreement(world, known);
        }
      }),
      { numRuns: Number(process.env.TORPOR_WALKS ?? 300), verbose: 1 },
    );
  });

  test.each(Object.entries(lastSteps) as [Command, Command[]][])(
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

/** true: everything ended before the kill came. */
async function killedRound(world: MemoryWorld, asked: readonly Action[], killAfter: number, together: boolean): Promise<boolean> {
  return untilKilled(world, killAfter, async (lifecycle, arm) => {
    await lifecycle.recover();
    arm();
    const perform = ({ command, target, mode }: Action) => actions[command](lifecycle, names[target]!, mode).catch(mustBeRefusal);
    if (together) await Promise.all(asked.map(perform));
    else for (const action of asked) await perform(action);
    await lifecycle.idle();
  });
}

async function killedRecovery(world: MemoryWorld, killAfter: number): Promise<void> {
  await untilKilled(world, killAfter, async (lifecycle, arm) => {
    arm();
    await lifecycle.recover();
  });
}

async function untilKilled(
  world: MemoryWorld,
  killAfter: number,
  live: (lifecycle: Lifecycle, arm: () => void) => Promise<void>,
): Promise<boolean> {
  let steps = Number.NEGATIVE_INFINITY;
  let die = (): void => {};
  const died = new Promise<false>((resolve) => {
    die = () => resolve(false);
  });
  const { lifecycle, kill } = world.daemon(async () => {
    if (steps++ !== killAfter) return;
    kill();
    die();
  });
  const life = live(lifecycle, () => {
    steps = 0;
  });
  const ended = await Promise.race([life.then(() => true), died]);
  kill();
  return ended;
}

function mustBeRefusal(error: unknown): void {
  expect(error).toMatchObject({ name: "TorporError", code: expect.not.stringMatching(/^internal$/) });
}

async function checkAgreement(world: MemoryWorld, known: Map<string, Known>): Promise<void> {
  const lifecycle = world.lifecycle();
  await lifecycle.recover();
  await lifecycle.idle();
  const sandboxes = await world.store.listSandboxes();
  expect(await world.store.runningOperations()).toEqual([]);
  for (const sandbox of sandboxes) {
    expect(settledStates).toContain(sandbox.state);
    expect(sandbox.operationId).toBeNull();
    expect(sandbox.runtimeId === null).toBe(sandbox.state !== "running");
    expect(await world.disks.exists(sandbox.diskId!)).toBe(true);
    if (sandbox.state === "paused") await checkMemoryKept(world, sandbox);
    if (sandbox.state === "running") await checkData(lifecycle, sandbox, known);
  }
  expect((await world.engine.list()).sort()).toEqual(sandboxes.flatMap(({ runtimeId }) => runtimeId ?? []).sort());
  expect((await world.disks.list()).sort()).toEqual(sandboxes.map(({ diskId }) => diskId).sort());
  expect((await world.checkpoints.list()).sort()).toEqual(sandboxes.flatMap(({ checkpoint }) => checkpoint?.id ?? []).sort());
  // Whatever the fakes refuse as impossible on a real host comes out as a fault of ours.
  expect(world.errors.filter((line) => /Error: /.test(line))).toEqual([]);
  world.engine.forgetDaemon();
}

/** The last pause said what it kept; a resume that failed since has not changed it. */
async function checkMemoryKept(world: MemoryWorld, { id, checkpoint, diskId }: SandboxRecord): Promise<void> {
  const pause = (await world.store.listOperations(id)).find(({ kind, status }) => kind === "pause" && status === "succeeded");
  expect(checkpoint !== null).toBe(pause?.result.memory);
  if (checkpoint !== null) expect(await world.checkpoints.read(checkpoint.id)).toMatchObject({ sandboxId: id, diskId });
}

/** A file is written once to each sandbox and must be there whenever it runs; so must its memory, as long as it was kept. */
async function checkData(lifecycle: Lifecycle, { id, generation, restored }: SandboxRecord, known: Map<string, Known>): Promise<void> {
  const { files, sessions } = await lifecycle.guest(id);
  const kept = known.get(id);
  const path = kept?.path ?? `/data/${id}`;
  if (kept === undefined) await files.write(path, (async function* () {})(), {});
  expect(await files.stat(path, {})).toMatchObject({ type: "file" });
  const goesOn = kept !== undefined && (generation === kept.generation || (generation === kept.generation + 1 && restored === "memory"));
  if (goesOn) expect(await sessions.get(kept.sessionId)).toMatchObject({ end: null });
  const sessionId = goesOn ? kept.sessionId : `se_${id}_${generation}`;
  if (!goesOn) await sessions.start({ sessionId: sessionId, argv: ["sleep", "1"], hold: false });
  known.set(id, { path, sessionId, generation });
}
