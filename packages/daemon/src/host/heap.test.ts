import { expect, test } from "vitest";
import { collect } from "./heap.ts";

test("what nobody holds any more is collected, however young or old", async () => {
  const held = [{}, {}];
  const refs = held.map((one) => new WeakRef(one));
  await collect();
  held.pop();
  await collect();
  expect(refs.map((ref) => ref.deref() !== undefined)).toEqual([true, false]);
  expect(held).toHaveLength(1);
});
