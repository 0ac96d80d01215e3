import type { Session, SessionEnd, Supervision } from "@torpor/contract";
import { expect, test } from "vitest";
import { deedsOf, factsOf, isAtWork, isPassing, stateOf } from "./kept-running.ts";

const end: SessionEnd = { reason: "exited", exitCode: 3, signal: null, oom: false };
const plain = (ended: SessionEnd | null) => ({ pid: 7, end: ended }) as Session;
const supervised = (changes: Partial<Supervision>) =>
  ({
    ...plain(null),
    supervision: {
      desired: "running",
      state: "ready",
      attempt: 2,
      restarts: 1,
      nextAt: null,
      lastEnd: null,
      reason: null,
      policy: { maxRestarts: 5, windowMs: 60_000 },
      ...changes,
    },
  }) as Session;

test.each([
  ["starting", ["stop", "restart", "remove"], true, true],
  ["ready", ["stop", "restart", "remove"], false, true],
  ["backoff", ["start", "stop", "remove"], true, true],
  ["stopped", ["start", "remove"], false, false],
  ["failed", ["start", "remove"], false, false],
] as const)("one that is %s", (state, deeds, passing, atWork) => {
  const session = supervised({ state });
  expect([deedsOf(session), isPassing(session), isAtWork(session), stateOf(session)]).toEqual([deeds, passing, atWork, state]);
});

test("one that is not supervised ends once, and can be removed", () => {
  expect([deedsOf(plain(null)), isAtWork(plain(null)), stateOf(plain(null)), factsOf(plain(null), 0)]).toEqual([
    ["remove"],
    true,
    "running",
    [],
  ]);
  expect([isAtWork(plain(end)), stateOf(plain(end))]).toEqual([false, "exit code 3"]);
  expect(stateOf(plain({ ...end, exitCode: 137, signal: "SIGKILL" }))).toBe("signal SIGKILL");
  expect(stateOf(plain({ ...end, reason: "oom" }))).toBe("oom");
});

test("what is wanted, which process it is, its restarts, its readiness and its last end are told", () => {
  expect(factsOf(supervised({}), 0)).toEqual([
    "is to be running",
    "process 2, pid 7",
    "1 restart of at most 5 within 1 min",
    "no check whether it is ready",
  ]);
  const waits = supervised({
    state: "backoff",
    nextAt: "2026-01-01T00:00:04.000Z",
    lastEnd: end,
    restarts: 2,
    policy: { readiness: { port: 80 } },
  });
  expect(factsOf(waits, Date.parse("2026-01-01T00:00:00.000Z"))).toEqual([
    "is to be running",
    "2 so far",
    "2 restarts",
    "ready once port 80 is open",
    "begins again in 4 s",
    "last end: exit code 3",
  ]);
  const checked = supervised({ attempt: 0, policy: { readiness: { argv: ["curl", "x"] } } });
  expect(factsOf(checked, 0)).toEqual(expect.arrayContaining(["no process yet", "ready, since curl x succeeds"]));
});
