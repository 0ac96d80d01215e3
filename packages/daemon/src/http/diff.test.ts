import { type Difference, TorporError } from "@torpor/contract";
import type { Lifecycle } from "@torpor/core";
import { MemoryImages } from "@torpor/core/testing";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Served } from "./served.ts";
import { createHttpServer } from "./server.ts";

const lines = { accept: "application/x-ndjson" };
let app: FastifyInstance;
let asked: unknown[];
let found: () => AsyncIterable<Difference>;

beforeEach(async () => {
  asked = [];
  const lifecycle = {
    diff: (idOrName: string, options: { with?: string }) => {
      asked.push([idOrName, options.with]);
      return found();
    },
  } as unknown as Lifecycle;
  app = await createHttpServer({ lifecycle, images: new MemoryImages() } as unknown as Served);
});
afterEach(() => app.close());

async function* some(count: number, failure?: Error): AsyncIterable<Difference> {
  for (let i = 0; i < count; i++) yield { change: "added", path: `/${i}`, what: [], before: null, after: null };
  if (failure !== undefined) throw failure;
}

async function told(query: string): Promise<unknown[]> {
  const { body } = await app.inject({ method: "GET", url: `/v1/sandboxes/base/diff${query}`, headers: lines });
  return body
    .trim()
    .split("\n")
    .map((line) => Object.keys(JSON.parse(line) as object)[0]);
}

describe("the differences", () => {
  test("come as lines with an end, or as one document", async () => {
    found = () => some(2);
    expect(await told("?with=kid")).toEqual(["difference", "difference", "end"]);
    const { json } = await app.inject({ method: "GET", url: "/v1/sandboxes/base/diff" });
    expect(json()).toMatchObject({ differences: [{ path: "/0" }, { path: "/1" }], truncated: false });
    expect(asked).toEqual([
      ["base", "kid"],
      ["base", undefined],
    ]);
  });

  test("are no more than was asked for, which is said", async () => {
    let ended = false;
    found = async function* () {
      try {
        yield* some(1_000_000);
      } finally {
        ended = true;
      }
    };
    expect(await told("?limit=2")).toEqual(["difference", "difference", "end"]);
    expect(ended).toBe(true);
    const { json } = await app.inject({ method: "GET", url: "/v1/sandboxes/base/diff" });
    expect(json().differences).toHaveLength(10_000);
    expect(json().truncated).toBe(true);
  });

  test("end with a refusal as long as there are none, and with an error afterwards", async () => {
    const failure = new TorporError("storage_failed", "the disk broke");
    for (const [count, headers] of [
      [0, lines],
      [0, {}],
      [3, {}],
    ] as const) {
      found = () => some(count, failure);
      const { statusCode, json } = await app.inject({ method: "GET", url: "/v1/sandboxes/base/diff", headers });
      expect([statusCode, json().error.code]).toEqual([500, "storage_failed"]);
    }
    found = () => some(1, failure);
    expect(await told("")).toEqual(["difference", "error"]);
  });

  test.each(["?with=UPPER", "?limit=-1", "?limit=x", "?depth=1"])("are refused for %s", async (query) => {
    const { statusCode, json } = await app.inject({ method: "GET", url: `/v1/sandboxes/base/diff${query}` });
    expect([statusCode, json().error.code]).toEqual([400, expect.stringMatching(/^invalid_/)]);
    expect(asked).toEqual([]);
  });
});
