import type { SandboxState } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import { restTitle } from "../testing/proofs.ts";
import { operationRecord, sandboxRecord } from "../testing/records.ts";
import { stateOutcomes } from "../testing/state-outcomes.ts";
import { type Asked, type Decision, decide } from "./decide.ts";
import { notRunning } from "./refusals.ts";
import { type Command, commands, settledStates } from "./states.ts";

const now = new Date("2026-01-02T00:00:00Z");
const checkpoint = { id: "ck_a", storedBytes: 1, createdAt: now.toISOString() };

describe("the table of states", () => {
  const cells = commands.flatMap((command) => settledStates.map((state) => [restTitle(command, state), command, state] as const));
  test.each(cells)("%s", (_title, command, state) => {
    expect(short(decideOn(state, command))).toBe(stateOutcomes[command][state]);
  });

  test("an operation begins with the state that shows it, and with the way back", () => {
    const decision = decideOn("running", "pause");
    expect(decision).toMatchObject({
      sandbox: { state: "pausing", operationId: "op_new", version: 0, updatedAt: now.toISOString() },
      operation: { id: "op_new", kind: "pause", status: "running", attempt: 1, notes: { prior: "running" }, startedAt: now.toISOString() },
    });
    expect(decideOn("running", "fork")).toMatchObject({ sandbox: { state: "running", operationId: "op_new" } });
    expect(decideOn("paused", "restore")).toMatchObject({ sandbox: { state: "paused", operationId: "op_new" } });
  });

  test.each([
    ["resume", "paused", { memory: "require" }, null, "checkpoint_incompatible"],
    ["resume", "failed", {}, checkpoint, "begin"],
    ["fork", "paused", {}, null, "checkpoint_incompatible"],
    ["fork", "paused", { memory: false }, null, "begin"],
    ["fork", "stopped", { memory: false }, null, "begin"],
    ["snapshot", "paused", {}, null, "checkpoint_incompatible"],
    ["snapshot", "paused", { memory: false }, null, "begin"],
    ["snapshot", "stopped", { memory: false }, null, "begin"],
    ["remove", "running", { force: true }, null, "begin"],
    ["remove", "paused", { force: true }, checkpoint, "begin"],
  ] as const)("%s of a %s one with %o", (command, state, request, kept, expected) => {
    expect(short(decideOn(state, command, request, { checkpoint: kept }))).toBe(expected);
  });
});

test.each(["creating", "pausing", "removing"] as const)("a record that is %s without an operation can only be removed", (state) => {
  expect(short(decideOn(state, "remove"))).toBe("begin");
  expect(short(decideOn(state, "pause"))).toBe("sandbox_not_running");
});

describe("refusals name the sandbox, its state and the next step", () => {
  test.each([
    ["pause", "paused", "sandbox base is paused already", "resume it with torpor resume base"],
    ["pause", "stopped", "sandbox base is stopped: pause takes a running sandbox", "start it with torpor start base"],
    ["resume", "stopped", "sandbox base is stopped: resume takes a paused sandbox", "start it with torpor start base"],
    ["fork", "stopped", "sandbox base is stopped: fork takes a running sandbox", "start it with torpor start base"],
    ["start", "paused", "sandbox base is paused: resume it with torpor resume base", undefined],
    ["snapshot", "stopped", "sandbox base is stopped: snapshot takes a running or paused sandbox", "keep its files with --files-only"],
    ["restore", "running", "sandbox base is running: restore takes a paused or stopped sandbox", "torpor pause base"],
    ["rebase", "failed", "sandbox base is failed: rebase takes a paused or stopped sandbox", "start it with torpor start base"],
    ["remove", "running", "sandbox base is running: stop it first or use --force", "torpor stop base"],
  ] as const)("%s of a %s one", (command, state, message, hint) => {
    const decision = decideOn(state, command);
    expect(decision).toMatchObject({ type: "refused", error: { message } });
    expect(decision.type === "refused" && decision.error.hint).toBe(hint);
  });

  test.each([
    ["paused", "sandbox base is paused: resume it with torpor resume base"],
    ["stopped", "sandbox base is stopped: start it with torpor start base"],
    ["failed", "sandbox base is failed: start it with torpor start base"],
  ] as const)("exec or files in a %s one", (state, message) => {
    expect(notRunning(sandboxRecord({ state }))).toMatchObject({ code: "sandbox_not_running", message });
  });

  test("memory that was not kept", () => {
    const decision = decideOn("paused", "fork", {}, { checkpoint: null });
    expect(decision).toMatchObject({ error: { message: expect.stringContaining("fork it with --files-only") } });
  });
});

describe("while an operation is at work", () => {
  const pausing = operationRecord({ id: "op_1", kind: "pause", phase: "capture" });

  test("a refusal says what is going on", () => {
    expect(decideOn("pausing", "start", {}, { operationId: "op_1" }, pausing)).toMatchObject({
      type: "refused",
      error: {
        code: "operation_active",
        message: "sandbox base is being paused (operation op_1, phase capture): wait for it or retry",
        details: { operation: "op_1", kind: "pause", phase: "capture" },
      },
    });
  });

  test("P19: the same resume is joined, another is not", () => {
    const resuming = operationRecord({ id: "op_1", kind: "resume", phase: "launch" });
    expect(decideOn("resuming", "resume", {}, {}, resuming)).toEqual({ type: "join", operation: resuming });
    expect(decideOn("resuming", "resume", { memory: "prefer" }, {}, resuming)).toMatchObject({ type: "join" });
    expect(short(decideOn("resuming", "resume", { memory: "discard" }, {}, resuming))).toBe("operation_active");
  });

  test.each([
    ["restore", "snapshot"],
    ["rebase", "image"],
  ] as const)("the same %s is joined, one to another %s is not", (kind, field) => {
    const active = operationRecord({ id: "op_1", kind, request: { [field]: "one" } });
    expect(decideOn("paused", kind, { [field]: "one" }, {}, active)).toMatchObject({ type: "join" });
    expect(short(decideOn("paused", kind, { [field]: "two" }, {}, active))).toBe("operation_active");
  });

  test.each([
    ["creating", "create"],
    ["pausing", "pause"],
    ["resuming", "resume"],
    ["running", "fork"],
    ["running", "snapshot"],
    ["paused", "restore"],
  ] as const)("a removal with force supersedes what is at work on a %s one, without it is refused", (state, kind) => {
    const active = operationRecord({ id: "op_1", kind });
    expect(decideOn(state, "remove", { force: true }, {}, active)).toEqual({ type: "supersede", operation: active });
    expect(short(decideOn(state, "remove", {}, {}, active))).toBe("sandbox_live");
  });

  test("a removal waits for a stop, and joins a removal", () => {
    expect(decideOn("stopping", "remove", {}, {}, operationRecord({ id: "op_1", kind: "stop" }))).toMatchObject({ type: "supersede" });
    expect(decideOn("removing", "remove", {}, {}, operationRecord({ id: "op_1", kind: "remove" }))).toMatchObject({ type: "join" });
  });
});

test("of a damaged record nothing is begun but its removal by force", () => {
  const damaged = { damage: { field: "env", mentions: [] } };
  const refused = { error: { code: "storage_failed", message: expect.stringContaining("sandbox base (sb_a) can't be read: env is") } };
  for (const command of commands) expect(decideOn("failed", command, {}, damaged)).toMatchObject(refused);
  expect(decideOn("failed", "remove", { force: true }, damaged)).toMatchObject({ type: "begin" });
});

function decideOn(
  state: SandboxState,
  command: Command,
  request: Asked["request"] = {},
  changed: Parameters<typeof sandboxRecord>[0] = {},
  active?: Parameters<typeof decide>[1],
): Decision {
  const sandbox = sandboxRecord({ state, checkpoint: state === "paused" ? checkpoint : null, ...changed });
  return decide(sandbox, active, { command, request, actor: "user", operationId: "op_new", phase: "first", notes: {} }, now);
}

function short(decision: Decision): string {
  return decision.type === "refused" ? decision.error.code : decision.type;
}
