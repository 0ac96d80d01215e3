import { WaitingRoom } from "./capacity.ts";
import type { Desk } from "./desk.ts";
import { watchHolds } from "./holds.ts";
import { Line } from "./line.ts";
import { Meter } from "./metering.ts";
import { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import type { Change, SandboxRecord } from "./ports/store.ts";
import { Supervisor } from "./supervision/supervisor.ts";
import { Teams } from "./teams/teams.ts";
import { Activity } from "./time/activity.ts";
import { AutomaticEndings } from "./time/automatic-endings.ts";
import { Deadlines } from "./time/deadlines.ts";
import { observedStore } from "./time/observed-store.ts";
import { recordUse } from "./time/record-use.ts";
import { resumeForCall } from "./time/resume-for-call.ts";
import { Waking } from "./time/waking.ts";
import { Alarms } from "./wakes/alarms.ts";
import { Courier } from "./wakes/courier.ts";

/** What happens at a desk by itself. */
interface ByItself {
  open(): Promise<void>;
  /** Nothing begins any more. Resolves when what has begun is done. */
  close(): Promise<void>;
}

/** A desk, and what ends and wakes sandboxes at it by itself: it is told of each change of a record by the store that the desk works with. */
export function openDesk(world: Ports): { readonly desk: Desk; readonly byItself: ByItself } {
  const observe = (change: Change): void => {
    for (const sandbox of change.sandboxes ?? []) observeSandbox(sandbox);
    for (const { id } of change.removed ?? []) for (const one of [deadlines, waking, courier, supervisor]) one.forget(id);
    meter.observe(change);
    observeWakes(change);
  };
  const observeSandbox = (sandbox: SandboxRecord): void => {
    deadlines.observe(sandbox);
    supervisor.observe(sandbox);
    if (sandbox.state !== "running") return;
    waking.forget(sandbox.id);
    courier.runs(sandbox.id);
  };
  const observeWakes = ({ wakes = [], endedWakes = [], wakeups = [] }: Change): void => {
    for (const wake of wakes) alarms.observe(wake);
    for (const { id } of endedWakes) alarms.forget(id);
    for (const { version, sandboxId } of wakeups) if (version === 0) courier.call(sandboxId);
  };
  const ports: Ports = {
    ...world,
    store: observedStore(world.store, observe),
    windDown: (sandboxId, guest, graceMs) => supervisor.windDown(sandboxId, guest, graceMs),
  };
  const supervisor = new Supervisor(ports);
  const meter = new Meter(world);
  const room = new WaitingRoom();
  const waking = new Waking(ports.clock, (sandboxId, waker) => resumeForCall(desk, sandboxId, waker));
  const desk: Desk = {
    ports,
    runner: new Runner(ports, () => room.look()),
    line: new Line(),
    room,
    activity: new Activity(ports.clock, (sandboxId, atMs) => recordUse(ports, sandboxId, atMs)),
    endings: new AutomaticEndings(),
    waking,
    supervisor,
    holds: watchHolds(ports),
    meter,
    teams: new Teams(world, meter, () => room.look()),
  };
  const deadlines = new Deadlines(desk);
  const alarms = new Alarms(desk);
  const courier = new Courier(desk);
  const timed = [deadlines, alarms, courier, supervisor];
  return {
    desk,
    byItself: {
      async open() {
        for (const one of timed) await one.open();
      },
      async close() {
        for (const one of timed) await one.close();
        await desk.activity.idle();
      },
    },
  };
}
