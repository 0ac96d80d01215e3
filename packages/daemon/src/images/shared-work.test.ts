import { expect, test } from "vitest";
import { createSharedWork } from "./shared-work.ts";

test("two that want the same at once share one run and both see its progress", async () => {
  const share = createSharedWork<number>();
  const gate = Promise.withResolvers<number>();
  let runs = 0;
  const seen: string[] = [];
  const start = (name: string) =>
    share(
      "key",
      (line) => seen.push(`${name} ${line.text}`),
      undefined,
      async (tell) => {
        runs += 1;
        const value = await gate.promise;
        tell({ step: "copy", text: "half" });
        return value;
      },
    );
  const both = [start("one"), start("two")];
  gate.resolve(7);
  expect(await Promise.all(both)).toEqual([7, 7]);
  expect(runs).toBe(1);
  expect(seen).toEqual(["one half", "two half"]);
});

test("one that gives up leaves the run to the other; the last one ends it", async () => {
  const share = createSharedWork<number>();
  const first = new AbortController();
  const second = new AbortController();
  let ended: AbortSignal | undefined;
  const work = (_: unknown, signal: AbortSignal) => {
    ended = signal;
    return new Promise<number>((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("work was cancelled"))));
  };
  const one = share("key", () => {}, first.signal, work);
  const two = share("key", () => {}, second.signal, work);
  first.abort(new Error("gave up"));
  await expect(one).rejects.toThrow("gave up");
  expect(ended?.aborted).toBe(false);
  second.abort();
  await expect(two).rejects.toThrow("work was cancelled");
  expect(ended?.aborted).toBe(true);
});

test("a failure reaches all, and the next call runs anew", async () => {
  const share = createSharedWork<number>();
  let runs = 0;
  const work = async () => {
    runs += 1;
    throw new Error(`failure ${runs}`);
  };
  const both = await Promise.allSettled([share("key", () => {}, undefined, work), share("key", () => {}, undefined, work)]);
  expect(both.map((result) => result.status === "rejected" && String(result.reason))).toEqual(["Error: failure 1", "Error: failure 1"]);
  await expect(share("key", () => {}, undefined, work)).rejects.toThrow("failure 2");
});
