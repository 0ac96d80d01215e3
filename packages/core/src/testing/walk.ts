import fc from "fast-check";
import { expect } from "vitest";
import { settledStates } from "../lifecycle/states.ts";
import type { SandboxRecord, SnapshotRecord, Store } from "../ports/store.ts";
import type { Lifecycle } from "../sandboxes.ts";
import { MemoryWorld } from "./memory-world.ts";

export { walkSeed } from "./walk-seed.ts";

export type Action = { readonly command: Command; readonly target: number; readonly mode: number };
const names = ["one", "two"] as const;
const kept = (mode: number): string => `kept-${mode}`;
export const actions = {
  create: (lifecycle: Lifecycle, name: string) => lifecycle.create({ image: "python:3.12", name }),
  pause: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.pause(name, { memory: mode !== 0 }),
  resume: (lifecycle: Lifecycle, name: string, mode: number) =>
    lifecycle.resume(name, { memory: (["prefer", "require", "discard"] as const)[mode]! }),
  fork: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.fork(name, { memory: mode !== 0, count: mode + 1 }),
  stop: (lifecycle: Lifecycle, name: string) => lifecycle.stop(name),
  start: (lifecycle: Lifecycle, name: string) => lifecycle.start(name),
  remove: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.remove(name, { force: mode !== 0 }),
  snapshot: (lifecycle: Lifecycle, name: string, mode: number) =>
    lifecycle.snapshot(name, { memory: mode !== 0, name: kept(mode), pinned: mode === 2 }),
  restore: (lifecycle: Lifecycle, name: string, mode: number) => lifecycle.restore(name, { snapshot: kept(mode) }),
  rebase: (lifecycle: Lifecycle, name: string, mode: number) =>
    mode === 0 ? lifecycle.rollback(name) : lifecycle.rebase(name, { image: mode === 1 ? "debian" : "python:3.12" }),
  spawn: (lifecycle: Lifecycle, name: string, mode: number) =>
    lifecycle.create(mode === 2 ? { snapshot: kept(mode), count: 2 } : { snapshot: kept(mode), name }),
  drop: async (lifecycle: Lifecycle, _name: string, mode: number) => {
    if (mode === 2) await lifecycle.snapshots.update(kept(mode), { pinned: false });
    return lifecycle.snapshots.remove(kept(mode));
  },
  cancel: async (lifecycle: Lifecycle, name: string) => lifecycle.cancel((await lifecycle.get(name)).operation?.id ?? "op_none"),
} as const;
export type Command = keyof typeof actions;

const lives = ["create", "pause", "pause", "resume", "resume", "fork", "stop", "start", "remove", "cancel"] as const;
const asked: readonly Command[] = [...lives, "snapshot", "snapshot", "restore", "rebase", "spawn", "drop"];

/** So many steps of operations until the daemon dies; each round ends in a kill and a recovery. */
const round = fc.record({
  actions: fc.array(
    fc.record({
      command: fc.constantFrom<Command>(...asked),
      target: fc.nat(1),
      mode: fc.nat(2),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  killAfter: fc.oneof(fc.nat(8), fc.nat(30)),
  /** The next daemon dies too, in its recovery. */
  killRecoveryAfter: fc.option(fc.nat(12)),
  together: fc.boolean(),
});

export interface Known {
  readonly path: string;
  readonly sessionId: string;
  readonly generation: number;
  /** How often it was put back to another state. */
  readonly restores: number;
}

export interface WalkFigures {
  readonly runs: number;
  /** Daemons, each of which was killed or, if all was done before, ended. */
  readonly daemons: number;
  /** Of them those that were killed in the middle of an operation or of a recovery. */
  readonly killed: number;
  /** Calls that began an operation, crossed one, or were refused. */
  readonly calls: number;
}

export function describeWalk({ runs, daemons, killed, calls }: WalkFigures, seed: number): string {
  return `${runs} walks, ${calls} calls, ${daemons} daemons of which ${killed} were killed, nothing lost; TORPOR_WALK_SEED=${seed} repeats them`;
}

/**
 * Random operations on two sandboxes, at random the daemon is killed in the middle; then the next one recovers, and records and host must
 * agree. The same seed walks the same way. `fresh` gives an empty store for each run.
 */
export async function walk(fresh: () => Promise<Store>, { runs: numRuns, seed }: { runs: number; seed: number }): Promise<WalkFigures> {
  const figures = { runs: 0, daemons: 0, killed: 0, calls: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 8 }), async (rounds) => {
      figures.runs++;
      const world = new MemoryWorld({ store: await fresh() });
      const known = new Map<string, Known>();
      for (const name of names) await world.lifecycle().create({ image: "debian", name });
      await checkAgreement(world, known);
      for (const { actions: asked, killAfter, together, killRecoveryAfter } of rounds) {
        const ends = [await killedRound(world, asked, killAfter, together)];
        if (killRecoveryAfter !== null) ends.push(await killedRecovery(world, killRecoveryAfter));
        figures.calls += asked.length;
        figures.daemons += ends.length;
        figures.killed += ends.filter((ended) => !ended).length;
        await checkAgreement(world, known);
      }
    }),
    { numRuns, seed, verbose: 1 },
  );
  return figures;
}

/** true: everything ended before the kill came. */
export async function killedRound(world: MemoryWorld, asked: readonly Action[], killAfter: number, together: boolean): Promise<boolean> {
  return untilKilled(world, killAfter, async (lifecycle, arm) => {
    await lifecycle.recover();
    arm();
    const perform = ({ command, target, mode }: Action) => actions[command](lifecycle, names[target]!, mode).catch(mustBeRefusal);
    if (together) await Promise.all(asked.map(perform));
    else for (const action of asked) await perform(action);
    await lifecycle.idle();
  });
}

/** true: it ended before the kill came. */
export async function killedRecovery(world: MemoryWorld, killAfter: number): Promise<boolean> {
  return untilKilled(world, killAfter, async (lifecycle, arm) => {
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
  const { lifecycle, kill, quiet } = world.daemon(async () => {
    if (steps++ !== killAfter) return;
    kill();
    die();
  });
  const life = live(lifecycle, () => {
    steps = 0;
  });
  const ended = await Promise.race([life.then(() => true), died]);
  kill();
  await quiet();
  return ended;
}

function mustBeRefusal(error: unknown): void {
  expect(error).toMatchObject({ name: "TorporError", code: expect.not.stringMatching(/^internal$/) });
}

export async function checkAgreement(world: MemoryWorld, known: Map<string, Known>): Promise<void> {
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
    if (sandbox.state === "running") await checkData(world, lifecycle, sandbox, known);
  }
  expect((await world.engine.list()).sort()).toEqual(sandboxes.flatMap(({ runtimeId }) => runtimeId ?? []).sort());
  const snapshots = await world.store.listSnapshots();
  for (const snapshot of snapshots) await checkKept(world, snapshot);
  const states = [...sandboxes, ...snapshots];
  expect((await world.disks.list()).sort()).toEqual(states.map(({ diskId }) => diskId).sort());
  expect((await world.checkpoints.list()).sort()).toEqual(states.flatMap(({ checkpoint }) => checkpoint?.id ?? []).sort());
  // Whatever the fakes refuse as impossible on a real host comes out as a fault of ours.
  expect(world.errors.filter((line) => /Error: /.test(line))).toEqual([]);
  world.engine.forgetDaemon();
}

/** Whatever became of those that it came from or that came from it. */
async function checkKept(world: MemoryWorld, { source, diskId, checkpoint, image }: SnapshotRecord): Promise<void> {
  expect(await world.disks.exists(diskId)).toBe(true);
  expect(await world.images.find(image.digest)).toBeDefined();
  if (checkpoint !== null) expect(await world.checkpoints.read(checkpoint.id)).toMatchObject({ sandboxId: source.id, diskId });
}

/** The last pause or restore said what it kept; a resume that failed since has not changed it. A rebase ends it. */
async function checkMemoryKept(world: MemoryWorld, { id, checkpoint, diskId }: SandboxRecord): Promise<void> {
  const settling = ["pause", "restore", "rebase"];
  const last = (await world.store.listOperations(id)).find(({ kind, status }) => settling.includes(kind) && status === "succeeded");
  expect(checkpoint !== null).toBe(last?.result.memory ?? false);
  if (checkpoint !== null) expect(await world.checkpoints.read(checkpoint.id)).toMatchObject({ sandboxId: id, diskId });
}

/** A file is written once to each sandbox and must be there whenever it runs; so must its memory, as long as it was kept. */
async function checkData(
  world: MemoryWorld,
  lifecycle: Lifecycle,
  { id, generation, restored }: SandboxRecord,
  known: Map<string, Known>,
): Promise<void> {
  const { files, sessions } = await lifecycle.guest(id);
  const restores = (await world.store.listOperations(id)).filter(({ kind, status }) => kind === "restore" && status === "succeeded").length;
  const last = known.get(id);
  // A restore brings back what was there before the file.
  const kept = last?.restores === restores ? last : undefined;
  const path = kept?.path ?? `/data/${id}`;
  if (kept === undefined) await files.write(path, (async function* () {})(), {});
  expect(await files.stat(path, {})).toMatchObject({ type: "file" });
  const goesOn = kept !== undefined && (generation === kept.generation || (generation === kept.generation + 1 && restored === "memory"));
  if (goesOn) expect(await sessions.get(kept.sessionId)).toMatchObject({ end: null });
  const sessionId = goesOn ? kept.sessionId : `se_${id}_${generation}_${restores}`;
  if (!goesOn) await sessions.start({ sessionId: sessionId, argv: ["sleep", "1"], hold: false });
  known.set(id, { path, sessionId, generation, restores });
}
