import { expect, test } from "vitest";
import { createError } from "./errors.ts";
import { waking } from "./waking.ts";

const stillWaking = () => createError("sandbox_waking", "sandbox base is waking up", { details: { retryAfterMs: 1 } });

test("a call that comes while a sandbox wakes up is made again until it is there", async () => {
  let calls = 0;
  const answer = await waking(async () => {
    if (++calls < 4) throw stillWaking();
    return "there";
  });
  expect([answer, calls]).toEqual(["there", 4]);
});

test("any other refusal is thrown at once, and a signal ends the waiting", async () => {
  await expect(waking(() => Promise.reject(createError("sandbox_not_running", "it is stopped")))).rejects.toMatchObject({
    code: "sandbox_not_running",
  });
  const end = new AbortController();
  const waiting = waking(async () => {
    end.abort(new Error("enough"));
    throw stillWaking();
  }, end.signal);
  await expect(waiting).rejects.toThrow("enough");
});
