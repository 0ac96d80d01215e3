import type { SandboxRecord, SandboxState } from "@torpor/sdk/calls";
import { table } from "./table.ts";
import { formatDuration } from "./values/duration.ts";
import { formatSize } from "./values/size.ts";

export const sandboxStates: readonly SandboxState[] = [
  "creating",
  "running",
  "pausing",
  "paused",
  "resuming",
  "stopping",
  "stopped",
  "failed",
  "removing",
];

/** The time left stands there only if some sandbox has any. */
export function sandboxTable(sandboxes: readonly SandboxRecord[]): string {
  const left = sandboxes.map(timeLeft);
  const timed = left.some((text) => text !== "-");
  const head = ["ID", "NAME", "IMAGE", "STATE", "UPTIME", "MEMORY"];
  return table(
    timed ? [...head, "TIME LEFT"] : head,
    sandboxes.map((sandbox, at) => [...rowOf(sandbox), ...(timed ? [left[at] ?? "-"] : [])]),
  );
}

/** Until what happens to it first, unless it is used or refreshed. */
function timeLeft({ state, expiresAt, hardExpiresAt, idleMs, lastActiveAt, onTimeout = "pause" }: SandboxRecord): string {
  const idleAt = state === "running" && idleMs != null && lastActiveAt != null ? Date.parse(lastActiveAt) + idleMs : undefined;
  const ends: [number | undefined, string][] = [
    [hardExpiresAt == null ? undefined : Date.parse(hardExpiresAt), "remove"],
    [expiresAt == null ? undefined : Date.parse(expiresAt), onTimeout],
    [idleAt, `${onTimeout} if idle`],
  ];
  const [first] = ends.flatMap(([at, what]) => (at === undefined ? [] : [{ at, what }])).sort((a, b) => a.at - b.at);
  return first === undefined ? "-" : `${formatDuration(first.at - Date.now())} (${first.what})`;
}

function rowOf(sandbox: SandboxRecord): string[] {
  const { id, name, image, state, startedAt, resources, held } = sandbox;
  const uptime = state === "running" && startedAt !== null ? formatDuration(Date.now() - Date.parse(startedAt)) : "-";
  const shown = held == null ? state : `${state} (held: pool full)`;
  return [id, name, image.reference, shown, uptime, formatSize(resources.memoryBytes)];
}
