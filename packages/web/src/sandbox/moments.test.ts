import type { Event, Operation } from "@torpor/contract";
import { expect, test } from "vitest";
import { momentsOf, phasesOf } from "./moments.ts";

const operation = (id: string, startedAt: string, result = {}) => ({ id, startedAt, result }) as Operation;
const event = (seq: number, at: string, operationId: string | null) => ({ seq, at, operationId }) as Event;

test("events stand with their operation, and alone without one or when it is forgotten", () => {
  const moments = momentsOf(
    [operation("op_1", "2026-01-01T00:00:01Z")],
    [event(1, "2026-01-01T00:00:02Z", "op_1"), event(2, "2026-01-01T00:00:03Z", null), event(3, "2026-01-01T00:00:00Z", "op_0")],
  );
  expect(moments.map((moment) => ("event" in moment ? moment.event.seq : moment.events.map(({ seq }) => seq)))).toEqual([2, [1], 3]);
});

test("phases come with their times, and nothing else that a result may have", () => {
  expect(phasesOf(operation("op", "x", { phases: { image: 1, boot: 20.5, odd: "?" } }))).toEqual([
    ["image", 1],
    ["boot", 20.5],
  ]);
  expect(phasesOf(operation("op", "x", { phases: null }))).toEqual([]);
});
