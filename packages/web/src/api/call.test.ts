import { afterEach, expect, test, vi } from "vitest";
import { repeated } from "../state/act.ts";
import { call, newKey, signedOut } from "./call.ts";

afterEach(() => vi.unstubAllGlobals());

/** The answers that fetch gives, in order; an Error is a network that is gone. Gives the requests. */
function answers(...given: (Response | Error)[]): Request[] {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    requests.push(new Request(`http://here${path}`, init));
    const next = given.shift();
    if (next instanceof Response) return next;
    throw next;
  });
  return requests;
}

const json = (status: number, value: unknown) => new Response(JSON.stringify(value), { status });

test("a refusal comes with its code and its hint", async () => {
  answers(json(409, { error: { code: "name_taken", message: "there is one", hint: "Choose another." } }));
  await expect(call("POST", "/v1/sandboxes", { json: {} })).rejects.toMatchObject({
    code: "name_taken",
    message: "there is one",
    hint: "Choose another.",
  });
});

test("a network that is gone, and what a proxy says in place of the daemon, is a daemon that does not answer", async () => {
  answers(new TypeError("failed to fetch"), new Response("<h1>Bad Gateway</h1>", { status: 502 }));
  await expect(call("GET", "/v1/info")).rejects.toMatchObject({ code: "daemon_unreachable" });
  await expect(call("GET", "/v1/info")).rejects.toMatchObject({ code: "daemon_unreachable" });
});

test("a cookie that counts no more signs the page out", async () => {
  const tell = vi.spyOn(signedOut, "tell");
  answers(json(401, { error: { code: "unauthorized", message: "who?" } }));
  await expect(call("GET", "/v1/info")).rejects.toMatchObject({ code: "unauthorized" });
  expect(tell).toHaveBeenCalledOnce();
});

test("an operation whose answer is lost is asked for again with the same key; one that is refused is not", async () => {
  const done = { operation: { status: "succeeded" }, sandbox: null };
  const requests = answers(new TypeError("cut"), json(200, done));
  expect(await repeated("pause", "base", {})).toEqual(done);
  const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
  expect([keys[0] === keys[1], keys[0]?.length, requests[1]?.url]).toEqual([true, 32, "http://here/v1/sandboxes/base/pause"]);
  const refused = answers(json(409, { error: { code: "sandbox_not_running", message: "no" } }));
  await expect(repeated("pause", "base", {})).rejects.toMatchObject({ code: "sandbox_not_running" });
  expect(refused).toHaveLength(1);
});

test("no two keys are the same", () => {
  expect(new Set(Array.from({ length: 100 }, newKey)).size).toBe(100);
});
