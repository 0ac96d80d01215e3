import type { Failure } from "@torpor/contract";
import { describeError } from "../failure.ts";
import type { RuntimeEnd, RuntimeStatus } from "../ports/engine.ts";
import type { Ports } from "../ports/ports.ts";
import type { SandboxRecord } from "../ports/store.ts";
import type { Failing, Outcome, Work } from "./procedure.ts";

/** Runs all steps of an undo, whichever of them fail: the rest is for the sweep. */
export async function quietly(ports: Ports, what: string, steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      ports.log.error(`${what}: a step failed`, { cause: describeError(error) });
    }
  }
}

/** The id if the runtime still holds anything, so that whoever comes next destroys it before making another. */
export async function leftover(ports: Ports, runtimeId: string | null): Promise<string | null> {
  if (runtimeId === null) return null;
  try {
    return (await ports.engine.inspect(runtimeId)).state === "absent" ? null : runtimeId;
  } catch {
    return runtimeId;
  }
}

/** How a sandbox stands after an operation on its runtime was undone: running as before, if the runtime lived through it. */
export async function survivor(work: Work): Promise<Pick<Outcome, "sandbox" | "events">> {
  const { ports, sandbox } = work;
  const runtimeId = sandbox.runtimeId;
  const status: RuntimeStatus = runtimeId === null ? { state: "absent" } : await ports.engine.inspect(runtimeId);
  if (status.state === "running") return { sandbox: { state: "running" }, events: [] };
  if (status.state === "frozen") return stuck(work);
  const end = endOf(status);
  if (runtimeId !== null) await quietly(ports, "destroying an ended runtime", [() => ports.engine.destroy(runtimeId)]);
  return {
    sandbox: { ...endedState(ports, end), runtimeId: await leftover(ports, runtimeId) },
    events: [{ type: "sandbox.ended", data: { ...end } }],
  };
}

/** One at rest whose files and memory are as they were; only a runtime that a launch had left may be gone. */
export async function atRest({ ports, sandbox }: Work): Promise<Outcome> {
  const { runtimeId } = sandbox;
  return { sandbox: runtimeId === null ? {} : { runtimeId: await leftover(ports, runtimeId) }, events: [] };
}

/** Its memory is there still, so it is not destroyed before somebody starts the sandbox anew or removes it. */
function stuck({ ports, sandbox }: Work): Pick<Outcome, "sandbox" | "events"> {
  const message = `the runtime of sandbox ${sandbox.name} is frozen and does not thaw: torpor start ${sandbox.name} gives its memory up`;
  const failure: Failure = { code: "engine_failed", message, at: ports.clock.now().toISOString() };
  return { sandbox: { state: "failed", failure }, events: [{ type: "sandbox.stuck", data: {} }] };
}

export function endOf(status: RuntimeStatus): RuntimeEnd {
  if (status.state === "ended") return status.cause;
  return {
    reason: "gone",
    exitCode: null,
    message: "nothing of the runtime is left: the host was started anew, or somebody ended all of it",
  };
}

/** A runtime that ended by itself with success was a shut down, a host's reboot is no failure of the sandbox; anything else is one. The disk stays. */
export function endedState(ports: Ports, end: RuntimeEnd): Partial<SandboxRecord> {
  const at = ports.clock.now().toISOString();
  const clean = end.reason === "exited" && end.exitCode === 0;
  const failure: Failure | null = clean ? null : { code: "engine_failed", message: end.message, at };
  return { state: clean || end.reason === "gone" ? "stopped" : "failed", failure, startedAt: null, stoppedAt: at, expiresAt: null };
}

export function failureOf(ports: Ports, { error }: Failing): Failure {
  return { code: error.code, message: error.message, at: ports.clock.now().toISOString() };
}
