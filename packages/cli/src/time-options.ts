import type { TimeSettings } from "@torpor/sdk/calls";
import { type Command, Option } from "commander";
import { type Bound, parseBound } from "./values/duration.ts";

export interface TimeOptions {
  readonly ttl?: Bound;
  readonly hardTtl?: Bound;
  readonly idle?: Bound;
  readonly onTimeout?: "pause" | "stop" | "remove";
  readonly autoResume?: boolean;
}

/** How a sandbox's life is bounded in time, where one is made and where one is changed. */
export function addTimeOptions(command: Command): Command {
  return command
    .option("--ttl <duration>", "running time until --on-timeout, such as 30m, or none; begins anew with each resume", parseBound)
    .option("--hard-ttl <duration>", "time until it is removed, whatever its state, or none", parseBound)
    .option("--idle <duration>", "time without a command, session or file call until --on-timeout, or none", parseBound)
    .addOption(new Option("--on-timeout <what>", "what then happens; default pause").choices(["pause", "stop", "remove"]))
    .option("--auto-resume", "resume it for commands, sessions and file calls when it is paused")
    .option("--no-auto-resume", "leave it paused, which is the default");
}

export function timeRequestOf({ ttl, hardTtl, idle, onTimeout, autoResume }: TimeOptions): TimeSettings {
  const fields = { ttlMs: ttl, hardTtlMs: hardTtl, idleMs: idle, onTimeout, autoResume };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value === "none" ? null : value]])),
  );
}
