import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("so many at a time, the others in the order of their coming, and who leaves takes no turn", async () => {
  const turns = new Turns(2);
  const [first, second] = [await turns.take(), await turns.take()];
  const order: string[] = [];
  const leaving = new AbortController();
  const take = (name: string, signal?: AbortSignal) =>
    turns.take(signal).then((turn) => {
      order.push(name);
      return turn;
    });
  const third = take("third");
  const never = take("never", leaving.signal);
  const fourth = take("fourth");
  leaving.abort(new Error("left"));
  await expect(never).rejects.toThrow("left");
  expect(order).toEqual([]);
  first[Symbol.dispose]();
  await third;
  expect(order).toEqual(["third"]);
  second[Symbol.dispose]();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
  await expect(turns.take(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  for (const turn of [await third, await fourth]) turn[Symbol.dispose]();
  await turns.take();
});
