import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { type Failpoint, failpoints } from "@torpor/core";

const actions = ["kill", "error", "stop"] as const;
type Action = (typeof actions)[number];

interface Trap {
  readonly name: string;
  readonly action: Action;
  /** Passes until it acts. */
  left: number;
}

/**
 * For tests of what is left by a daemon that ends at a given step. `TORPOR_FAILPOINT` is `name[@n][:action],…` (docs/reference/failpoints.md):
 * at the n-th time that the step is reached the daemon is killed, stopped, or the step fails. Or it is the path of a file with that text, which is
 * read at each step, so that a running daemon can be armed; a kill uses the file up. undefined: off, as it always is in production.
 */
export function openFailpoint(env: NodeJS.ProcessEnv): Failpoint | undefined {
  const given = env.TORPOR_FAILPOINT;
  if (given === undefined || given === "") {
    return undefined;
  }
  const byDefault = readAction(env.TORPOR_FAILPOINT_ACTION ?? "kill");
  const file = path.isAbsolute(given) ? given : undefined;
  let text = file === undefined ? given : "";
  let traps = readTraps(text, byDefault);
  return async (name) => {
    const now = file === undefined ? text : readIfThere(file);
    if (now !== text) {
      text = now;
      traps = readTraps(text, byDefault);
    }
    for (const trap of traps) {
      if (trap.name === name && --trap.left === 0) {
        act(name, trap.action, file);
      }
    }
  };
}

function act(name: string, action: Action, file: string | undefined): void {
  if (action === "error") {
    throw new TorporError("engine_failed", `failpoint ${name}: TORPOR_FAILPOINT has this step fail`);
  }
  if (file !== undefined) {
    rmSync(file, { force: true });
  }
  process.kill(process.pid, action === "kill" ? "SIGKILL" : "SIGSTOP");
}

function readTraps(text: string, byDefault: Action): Trap[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => readTrap(part, byDefault));
}

function readTrap(text: string, byDefault: Action): Trap {
  const { name = "", count = "1", action } = /^(?<name>[^@:]+)(?:@(?<count>[1-9]\d*))?(?::(?<action>.+))?$/.exec(text)?.groups ?? {};
  if (!failpoints.some((point) => point.name === name)) {
    throw new TorporError("invalid_request", `TORPOR_FAILPOINT: there is no failpoint ${JSON.stringify(text)}`, {
      hint: "docs/reference/failpoints.md has them all.",
    });
  }
  return { name, action: action === undefined ? byDefault : readAction(action), left: Number(count) };
}

function readAction(text: string): Action {
  const action = actions.find((each) => each === text);
  if (action === undefined) {
    throw new TorporError("invalid_request", `TORPOR_FAILPOINT: ${JSON.stringify(text)} is none of ${actions.join(", ")}`);
  }
  return action;
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
