import type { OperationAnswer, Sandbox } from "@torpor/contract";
import { expect, test } from "vitest";
import { doneBy, doToAll, type Outcome, suits, tellOutcome } from "./bulk.ts";

test("each has its own outcome, and no more than four are at work at once", async () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const outcomes = new Map<string, Outcome>();
  let atWork = 0;
  let most = 0;
  await doToAll(
    "pause",
    ids,
    (id, outcome) => outcomes.set(id, outcome),
    async (_verb, id) => {
      most = Math.max(most, ++atWork);
      await new Promise((resolve) => setTimeout(resolve));
      atWork--;
      return id === "c" ? { kind: "failed", message: "no" } : { kind: "done" };
    },
  );
  expect(most).toBe(4);
  expect([...outcomes].filter(([, { kind }]) => kind !== "done")).toEqual([["c", { kind: "failed", message: "no" }]]);
  expect(outcomes.size).toBe(6);
});

test("only what can be done is done: a pause to those that run, a resume to those that sleep", () => {
  const of = (state: string) => ({ state }) as Sandbox;
  expect([
    suits("pause", of("running")),
    suits("pause", of("paused")),
    suits("resume", of("paused")),
    suits("remove", of("failed")),
  ]).toEqual([true, false, true, true]);
});

test("a resume that brought no processes back says so, and any other deed is just done", () => {
  const told = (result: object) => tellOutcome(doneBy({ operation: { result } } as Pick<OperationAnswer, "operation">));
  expect(told({ restored: "files", reason: "the checkpoint is damaged" })).toBe("started fresh from its files: the checkpoint is damaged");
  expect(told({ restored: "files" })).toBe("started fresh from its files: its memory could not be restored");
  expect([told({ restored: "memory" }), told({})]).toEqual(["done", "done"]);
});
