import { type OperationKind, TorporError } from "@torpor/contract";
import type { OperationRecord, SandboxRecord, SnapshotRecord } from "../ports/store.ts";
import type { Command } from "./states.ts";

const participles: Readonly<Record<OperationKind, string>> = {
  create: "created",
  pause: "paused",
  resume: "resumed",
  fork: "forked",
  stop: "stopped",
  start: "started",
  remove: "removed",
  snapshot: "kept as a snapshot",
  restore: "restored",
  rebase: "rebased",
};

/** Each text names the sandbox, what it is, and the next step. */
export function refusal(sandbox: SandboxRecord, command: Command): TorporError {
  const { name, state } = sandbox;
  const subject = `sandbox ${name} is ${state}`;
  switch (command) {
    case "pause":
      return state === "paused"
        ? new TorporError("sandbox_not_running", `${subject} already`, { hint: resumeHint(name), details: { state } })
        : new TorporError("sandbox_not_running", `${subject}: pause takes a running sandbox`, {
            hint: startHint(name),
            details: { state },
          });
    case "resume":
      return new TorporError("sandbox_not_paused", `${subject}: resume takes a paused sandbox`, {
        hint: startHint(name),
        details: { state },
      });
    case "fork":
      return new TorporError("sandbox_not_running", `${subject}: fork takes a running sandbox`, {
        hint: startHint(name),
        details: { state },
      });
    case "snapshot":
      return new TorporError("sandbox_not_running", `${subject}: snapshot takes a running or paused sandbox`, {
        hint: state === "stopped" ? "keep its files with --files-only" : startHint(name),
        details: { state },
      });
    case "restore":
    case "rebase":
      return new TorporError("sandbox_not_paused", `${subject}: ${command} takes a paused or stopped sandbox`, {
        hint: state === "running" ? `torpor pause ${name}` : startHint(name),
        details: { state },
      });
    case "start":
      return new TorporError("sandbox_not_stopped", `${subject}: ${resumeHint(name)}`, { details: { state } });
    case "remove":
      return new TorporError("sandbox_live", `${subject}: stop it first or use --force`, {
        hint: `torpor stop ${name}`,
        details: { state },
      });
    case "stop":
      return new TorporError("sandbox_not_running", `${subject}: there is nothing to stop`, { details: { state } });
  }
}

/** For what needs the guest: commands, terminals, files. */
export function notRunning(sandbox: SandboxRecord): TorporError {
  const { name, state } = sandbox;
  const step = state === "paused" ? resumeHint(name) : startHint(name);
  return new TorporError("sandbox_not_running", `sandbox ${name} is ${state}: ${step}`, { details: { state } });
}

export function busy(sandbox: SandboxRecord, operation: OperationRecord): TorporError {
  const { id, kind, phase } = operation;
  return new TorporError(
    "operation_active",
    `sandbox ${sandbox.name} is being ${participles[kind]} (operation ${id}, phase ${phase}): wait for it or retry`,
    { details: { operation: id, kind, phase } },
  );
}

export function unreadable({ id, name }: SandboxRecord, field: string): TorporError {
  return new TorporError(
    "storage_failed",
    `the stored record of sandbox ${name} (${id}) can't be read: ${field} is not what it should be`,
    {
      hint: `restore the store from a backup, or give the sandbox up with torpor remove --force ${name}`,
      details: { sandbox: id, field },
    },
  );
}

export function noMemoryKept(sandbox: SandboxRecord, step: string): TorporError {
  return new TorporError(
    "checkpoint_incompatible",
    `sandbox ${sandbox.name} was paused with files only, there is no memory to bring back: ${step}`,
  );
}

export function notFound(idOrName: string): TorporError {
  return new TorporError("sandbox_not_found", `there is no sandbox ${idOrName}`, { hint: "torpor list shows what there is" });
}

export function snapshotNotFound(idOrName: string): TorporError {
  return new TorporError("snapshot_not_found", `there is no snapshot ${idOrName}`, { hint: "torpor snapshot list shows what there is" });
}

export function imageMissing(reference: string): TorporError {
  return new TorporError("image_not_found", `image ${reference} is not here`, { hint: `torpor image pull ${reference}` });
}

export function snapshotNameTaken(name: string): TorporError {
  return new TorporError("name_taken", `another snapshot has the name ${name}: take another or remove that one`);
}

export function unreadableSnapshot({ id, name, damage }: SnapshotRecord): TorporError {
  const field = damage?.field ?? "record";
  return new TorporError(
    "storage_failed",
    `the stored record of snapshot ${name} (${id}) can't be read: ${field} is not what it should be`,
    {
      hint: `restore the store from a backup, or give the snapshot up with torpor snapshot remove --force ${name}`,
      details: { snapshot: id, field },
    },
  );
}

export function nameTaken(name: string): TorporError {
  return new TorporError("name_taken", `another sandbox has the name ${name}: take another or remove that one`, { details: { name } });
}

/** Of the children of one fork. */
export function nameTakenTwice(name: string): TorporError {
  return new TorporError("name_taken", `two children can't have the name ${name}: give each its own`, { details: { name } });
}

function resumeHint(name: string): string {
  return `resume it with torpor resume ${name}`;
}

function startHint(name: string): string {
  return `start it with torpor start ${name}`;
}
