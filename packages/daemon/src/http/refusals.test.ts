import { type ErrorCode, errorCatalogue, routes } from "@torpor/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ unsupported: ["fork"] });
  await call("POST", "/v1/sandboxes", { image: "debian", name: "base" });
});
afterAll(async () => server[Symbol.asyncDispose]());

type Method = "GET" | "POST" | "PUT" | "DELETE";
async function call(method: Method, url: string, payload?: unknown, headers: Record<string, string> = {}) {
  const text = payload === undefined || typeof payload === "string" ? payload : JSON.stringify(payload);
  const type: Record<string, string> = text === undefined ? {} : { "content-type": "application/json" };
  const answer = await server.app.inject({
    method,
    url,
    ...(text === undefined ? {} : { payload: text as string }),
    headers: { ...type, ...headers },
  });
  return {
    status: answer.statusCode,
    error: answer.json().error as { code: ErrorCode; message: string; details?: Record<string, unknown> },
  };
}

describe("A10: a request that is wrong is refused with the field that is, never with a 500", () => {
  const wrong: [string, Method, string, unknown, ErrorCode, RegExp][] = [
    ["no body", "POST", "/v1/sandboxes", undefined, "invalid_request", /image: either image or snapshot is needed/],
    ["an empty body", "POST", "/v1/sandboxes", "", "invalid_request", /image: either image or snapshot is needed/],
    ["a wrong type", "POST", "/v1/sandboxes", { image: 3 }, "invalid_request", /image: .*string/],
    [
      "an unknown field",
      "POST",
      "/v1/sandboxes",
      { image: "debian", nme: "x" },
      "invalid_request",
      /not valid: nme: there is no "nme"; did you mean "name"\?$/,
    ],
    ["one within", "POST", "/v1/sandboxes", { image: "debian", resources: { cpu: 1 } }, "invalid_request", /"cpu"; did you mean "cpus"/],
    [
      "a nested field",
      "POST",
      "/v1/sandboxes",
      { image: "debian", resources: { memoryBytes: -1 } },
      "invalid_request",
      /resources\.memoryBytes/,
    ],
    ["a malformed name", "POST", "/v1/sandboxes", { image: "debian", name: "Base!" }, "invalid_name", /lower-case/],
    ["a name like an id", "POST", "/v1/sandboxes", { image: "debian", name: "sb_x" }, "invalid_name", /id/],
    ["no JSON", "POST", "/v1/sandboxes", "{", "invalid_request", /not JSON/],
    ["null", "POST", "/v1/sandboxes", "null", "invalid_request", /object/],
    ["an array", "POST", "/v1/sandboxes", [], "invalid_request", /object/],
    ["10 MB", "POST", "/v1/sandboxes", { image: "x".repeat(10_000_000) }, "body_too_large", /limit/],
    ["a path as id", "GET", "/v1/sandboxes/..%2Fx", undefined, "invalid_name", /id/],
    ["an id that is too long", "GET", `/v1/sandboxes/${"x".repeat(200)}`, undefined, "invalid_request", /too long|exceeding/],
    ["an operation's id", "GET", "/v1/operations/op_1", undefined, "invalid_request", /op_/],
    ["a wait that is no number", "POST", "/v1/sandboxes/base/pause?wait=1e3", undefined, "invalid_request", /wait/],
    ["a wait beyond the limit", "POST", "/v1/sandboxes/base/pause?wait=600001", undefined, "invalid_request", /wait/],
    ["an unknown query", "GET", "/v1/sandboxes?al=1", undefined, "invalid_request", /al/],
    ["a query twice", "GET", "/v1/sandboxes/base/files/stat?path=a&path=b", undefined, "invalid_request", /path/],
    ["a malformed percent-encoding", "GET", "/v1/sandboxes/base/files/stat?path=%zz", undefined, "invalid_request", /percent/],
    ["no path", "GET", "/v1/sandboxes/base/files/stat", undefined, "invalid_request", /path: is missing/],
    ["no argv", "POST", "/v1/sandboxes/base/exec", { argv: [] }, "invalid_request", /argv/],
    ["an unknown route", "GET", "/v2/x", undefined, "route_not_found", /GET \/v2\/x/],
    ["an unknown method", "PUT", "/v1/sandboxes", {}, "route_not_found", /PUT/],
  ];
  test.each(wrong)("%s", async (_title, method, url, payload, code, message) => {
    const { status, error } = await call(method, url, payload);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(status).toBe(errorCatalogue[code].status);
  });

  test("a body of another type", async () => {
    const answer = await call("POST", "/v1/sandboxes", "image=x", { "content-type": "application/x-www-form-urlencoded" });
    expect(answer).toMatchObject({ status: 400, error: { code: "invalid_request" } });
  });

  test.each(["k".repeat(256), "", "two words", "ümlaut"])(
    "an idempotency key that is too long, empty, or has other characters: %s",
    async (key) => {
      const answer = await call("POST", "/v1/sandboxes", { image: "debian" }, { "idempotency-key": key });
      expect(answer).toMatchObject({
        status: 400,
        error: { code: "invalid_request", message: expect.stringContaining("Idempotency-Key") },
      });
    },
  );

  test("after all of it there is the one sandbox that was there, running", async () => {
    const list = await server.app.inject("/v1/sandboxes");
    expect(list.json().sandboxes).toMatchObject([{ name: "base", state: "running" }]);
  });
});

describe("what the lifecycle refuses keeps its code and words", () => {
  const refused: [string, Method, string, unknown, ErrorCode, RegExp][] = [
    ["an unknown image", "POST", "/v1/sandboxes", { image: "nothere" }, "image_not_found", /nothere/],
    ["a name that is taken", "POST", "/v1/sandboxes", { image: "debian", name: "base" }, "name_taken", /base/],
    ["too little memory", "POST", "/v1/sandboxes", { image: "debian", resources: { memoryBytes: 1024 } }, "invalid_request", /memory/],
    [
      "more memory than the node has",
      "POST",
      "/v1/sandboxes",
      { image: "debian", resources: { memoryBytes: 2 ** 45 } },
      "capacity_exceeded",
      /memory/,
    ],
    ["an unknown sandbox", "POST", "/v1/sandboxes/nope/pause", {}, "sandbox_not_found", /nope/],
    ["removal of a running one", "DELETE", "/v1/sandboxes/base", undefined, "sandbox_live", /base is running/],
    ["what the engine can't", "POST", "/v1/sandboxes/base/fork", {}, "capability_unsupported", /fork/],
    ["an unknown session", "GET", "/v1/sandboxes/base/sessions/se_aaaaaaaaaaaaaaaa", undefined, "session_not_found", /se_/],
    ["a missing file", "GET", "/v1/sandboxes/base/files?path=/nope", undefined, "file_not_found", /nope/],
    ["an unknown image to remove", "DELETE", "/v1/images?reference=nope", undefined, "image_not_found", /nope/],
    ["an image in use", "DELETE", "/v1/images?reference=debian", undefined, "image_in_use", /debian/],
  ];
  test.each(refused)("%s", async (_title, method, url, payload, code, message) => {
    const { status, error } = await call(method, url, payload);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(status).toBe(errorCatalogue[code].status);
  });
});

test("an operation that fails answers with its error and its id", async () => {
  const { status, error } = await call("POST", "/v1/sandboxes", { image: "nothere", name: "lost" });
  expect(status).toBe(404);
  const operation = await server.app.inject(`/v1/operations/${String(error.details?.operationId)}`);
  expect(operation.json()).toMatchObject({ kind: "create", status: "failed", error: { code: "image_not_found" } });
});

test("a fault is told with the request's id and without its text", async () => {
  await using faulty = await startTestServer();
  faulty.served.lifecycle.page = async () => {
    throw new Error("secret at /root/key");
  };
  const answer = await faulty.app.inject("/v1/sandboxes");
  expect(answer.statusCode).toBe(500);
  expect(answer.json().error).toMatchObject({ code: "internal", details: { requestId: expect.any(String) } });
  expect(answer.body).not.toMatch(/secret|\.ts/);
});

test("every route of the contract is served", () => {
  for (const route of Object.values(routes)) {
    const url = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    expect(server.app.hasRoute({ method: route.method, url }), `${route.method} ${route.path}`).toBe(true);
  }
});
