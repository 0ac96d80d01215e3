import type { SessionEnd } from "@torpor/contract";
import { describe, expect, test } from "vitest";
import { supervisedRecord } from "../testing/records.ts";
import { judged, nextStep, policyOf, type Seen } from "./policy.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");
const end = (exitCode: number): SessionEnd => ({ reason: "exited", exitCode, signal: null, oom: false });
const none: Seen = { runtimeId: "rt_1", process: "none", attempt: 0, end: null };
const running = (attempt: number, runtimeId = "rt_1"): Seen => ({ runtimeId, process: "running", attempt, end: null });
const ended = (attempt: number, exitCode: number): Seen => ({ runtimeId: "rt_1", process: "ended", attempt, end: end(exitCode) });
const policy = policyOf({});

describe("a process that ended", () => {
  test.each([
    ["never", 0, "stopped"],
    ["never", 1, "failed"],
    ["on-failure", 0, "stopped"],
    ["on-failure", 1, "backoff"],
    ["always", 0, "backoff"],
  ] as const)("under %s with code %d: %s", (restart, code, state) => {
    const record = supervisedRecord({ attempt: 1, runtimeId: "rt_1", policy: { ...policy, restart } });
    expect(judged(record, 1, end(code), now)).toMatchObject({ state, lastEnd: end(code), judged: 1 });
  });

  test("waits twice as long each time, and is given up after so many restarts within the window", () => {
    let record = supervisedRecord({ policy: { ...policy, restart: "always", maxRestarts: 3, backoffMs: 1000 } });
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 4; attempt++) {
      record = judged(record, attempt, end(1), now + attempt);
      if (record.nextAt !== null) pauses.push(Date.parse(record.nextAt) - now - attempt);
    }
    expect(pauses).toEqual([1000, 2000, 4000]);
    expect(record).toMatchObject({ state: "failed", reason: expect.stringContaining("after 3 restarts within 60 s") });
    // Restarts of long ago do not count.
    expect(judged(record, 5, end(1), now + 3_600_000)).toMatchObject({ state: "backoff", restartedAt: { length: 1 } });
  });

  test("that was to be replaced, or stopped, is not judged by the policy", () => {
    const record = supervisedRecord({ attempt: 2, policy: { ...policy, restart: "never" } });
    expect(judged({ ...record, replaced: 2 }, 2, end(143), now)).toMatchObject({ state: "starting", desired: "running" });
    expect(judged({ ...record, desired: "stopped" }, 2, end(143), now)).toMatchObject({ state: "stopped", reason: null });
    const stopped: SessionEnd = { ...end(143), reason: "stopped", signal: "SIGTERM" };
    expect(judged(record, 2, stopped, now)).toMatchObject({ state: "starting", desired: "running", lastEnd: stopped, nextAt: null });
  });
});

describe("the next step", () => {
  test("begins the first process, waits out a pause, then begins the next", () => {
    expect(nextStep(supervisedRecord(), none, now)).toEqual({ kind: "start", attempt: 1 });
    const waiting = supervisedRecord({
      attempt: 1,
      judged: 1,
      runtimeId: "rt_1",
      state: "backoff",
      nextAt: new Date(now + 5).toISOString(),
    });
    expect(nextStep(waiting, ended(1, 1), now)).toEqual({ kind: "wait", untilMs: now + 5 });
    expect(nextStep(waiting, ended(1, 1), now + 5)).toEqual({ kind: "start", attempt: 2 });
  });

  test("with the memory the same process goes on, ready if it was", () => {
    const record = supervisedRecord({ attempt: 3, judged: 2, runtimeId: "rt_0", state: "ready" });
    expect(nextStep(record, running(3), now)).toMatchObject({ kind: "change", record: { attempt: 3, runtimeId: "rt_1", state: "ready" } });
    expect(nextStep({ ...record, runtimeId: "rt_1" }, running(3), now)).toEqual({ kind: "watch" });
  });

  test("without the memory another begins, or none, as is set", () => {
    const record = supervisedRecord({ attempt: 3, judged: 2, runtimeId: "rt_0", state: "ready" });
    expect(nextStep(record, none, now)).toEqual({ kind: "start", attempt: 4 });
    const stop = { ...record, policy: { ...policy, runtimeRecovery: "stop" as const } };
    expect(nextStep(stop, none, now)).toMatchObject({ kind: "change", record: { desired: "stopped", state: "stopped" } });
  });

  test("what is not wanted is stopped, what was given up is left", () => {
    const record = supervisedRecord({ attempt: 1, runtimeId: "rt_1", desired: "stopped" });
    expect(nextStep(record, running(1), now)).toEqual({ kind: "stop" });
    expect(nextStep({ ...record, judged: 1, state: "stopped" }, ended(1, 0), now)).toEqual({ kind: "rest" });
    expect(nextStep({ ...record, desired: "running", judged: 1, state: "failed" }, ended(1, 1), now)).toEqual({ kind: "rest" });
    expect(nextStep({ ...record, desired: "running", replaced: 1, state: "ready" }, running(1), now)).toEqual({ kind: "stop" });
  });
});
