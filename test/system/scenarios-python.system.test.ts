import { TorporClient } from "@torpor/sdk";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { pythonLines } from "./harness/python.ts";

const shared = `scenarios-python-${process.pid}`;

let client: TorporClient;
beforeAll(async () => {
  client = new TorporClient({ socket: inject("torporSocket") });
  await client.create({ name: shared, image: "debian" });
});
afterAll(async () => {
  await client.remove(shared, { force: true });
  client.close();
});

interface Outcome {
  readonly id: string;
  readonly cases: readonly string[];
  readonly failure: string | null;
}

/** Scenarios are of one process: most of a client's time would else be its start. */
describe.each(["sync", "async"])("the Python client, %s", (kind) => {
  test("A07, E13, E16, E18, E22, L03, L04, L06, L07, P04, P22, Y09: does in every scenario what all clients do", async () => {
    const args = [inject("torporSocket"), `py-${kind}-${process.pid}`, shared, kind];
    const outcomes = await pythonLines<Outcome>("sdks/python/tests/scenario_main.py", args);
    expect(outcomes.filter(({ failure }) => failure !== null)).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(10);
  });
});
