import type { WaitingRoom } from "./capacity.ts";
import type { Holds } from "./holds.ts";
import type { Line } from "./line.ts";
import type { Meter } from "./metering.ts";
import type { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import type { Supervisor } from "./supervision/supervisor.ts";
import type { Teams } from "./teams/teams.ts";
import type { Activity } from "./time/activity.ts";
import type { AutomaticEndings } from "./time/automatic-endings.ts";
import type { Waking } from "./time/waking.ts";

/** Where calls are dealt with: the world, the operations at work, who waits for which sandbox, and what happens to sandboxes by themselves. */
export interface Desk {
  readonly room: WaitingRoom;
  readonly ports: Ports;
  readonly runner: Runner;
  readonly line: Line;
  readonly activity: Activity;
  readonly endings: AutomaticEndings;
  readonly waking: Waking;
  readonly supervisor: Supervisor;
  readonly holds: Holds;
  readonly meter: Meter;
  readonly teams: Teams;
}
