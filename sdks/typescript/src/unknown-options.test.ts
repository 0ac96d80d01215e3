import { once } from "node:events";
import { request } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { download, upload } from "./copy/index.ts";
import { InvalidRequest, Torpor, TorporClient } from "./index.ts";
import { startDaemon } from "./testing/daemon.ts";
import { client, methods, sandbox, torpor, wrong } from "./testing/every-method.ts";
import { textOf } from "./transport.ts";

afterAll(() => {
  torpor.close();
  client.close();
});

test.each(methods)(
  "every method of %s is in the table: a new one takes no options, or refuses those that there are not",
  (_name, of, table) => {
    const prototype = Object.getPrototypeOf(of) as object;
    const holder = prototype === Object.prototype ? of : prototype;
    const found = Object.entries(Object.getOwnPropertyDescriptors(holder)).flatMap(([name, { value }]) =>
      typeof value === "function" ? [name] : [],
    );
    expect(Object.keys(table).sort()).toEqual(found.filter((name) => name !== "constructor").sort());
  },
);

test("every object of the clients has its methods in the table", () => {
  const kindOf = (of: object) => (Object.getPrototypeOf(of) === Object.prototype ? of : Object.getPrototypeOf(of));
  const known = new Set(methods.map(([, of]) => kindOf(of)));
  const parts = [torpor, client, sandbox].flatMap((whole) => Object.entries(whole).filter(([, part]) => typeof part === "object"));
  expect(parts.length).toBeGreaterThan(25);
  // The shell's are those of Python.
  expect(parts.flatMap(([name, part]) => (known.has(kindOf(part)) || name === "shell" ? [] : [name]))).toEqual([]);
});

const cases = methods.flatMap(([name, of, table]) =>
  Object.entries(table).flatMap(([method, entry]) => (entry === null ? [] : [[name, method, of, ...entry] as const])),
);
test.each(cases)(
  "%s: %s refuses an option that there is not, names the nearest, and sends nothing",
  async (_name, method, of, given, meant) => {
    expectRefusal(await failureOf(() => (of as Record<string, (...given: readonly unknown[]) => unknown>)[method]?.(...given)), meant);
  },
);

describe("the same of", () => {
  const place = { sandbox: "sb", path: "/a" };
  test.each([
    ["a client", () => new Torpor(wrong("tokn")), "token"],
    ["the calls alone", () => new TorporClient(wrong("sockt")), "socket"],
    ["a command in the background", () => sandbox.exec("ls", wrong("outputLimit", { background: true }) as never), "outputLimitBytes"],
    ["copies", () => upload(client, "a", place, wrong("onNotices")), "onNotice"],
    ["copies the other way", () => download(client, place, "a", wrong("onNotices")), "onNotice"],
  ] as const)("%s", async (_title, work, meant) => expectRefusal(await failureOf(work), meant));

  test("what another method takes, and what is no options at all", async () => {
    for (const work of [
      () => torpor.create({ image: "debian", count: 3 } as never),
      () => sandbox.fork({ names: ["a"] } as never),
      () => sandbox.exec("ls", { background: true, onStdout: () => {} } as never),
      () => sandbox.files.stat("a", { path: "b" } as never),
      () => sandbox.files.stat("a", { toString: undefined } as never),
      () => sandbox.pause(true as never),
      () => sandbox.pause(null as never),
      () => sandbox.remove("force" as never),
    ]) {
      expect(await failureOf(work)).toBeInstanceOf(InvalidRequest);
    }
  });
});

test("what gives what an operation made can't be told to come back before its end", async () => {
  const given = { waitMs: 0 } as never;
  for (const work of [
    () => torpor.create({ image: "debian", waitMs: 0 } as never),
    () => torpor.createMany({ snapshot: "s", count: 2, waitMs: 0 } as never),
    () => torpor.fork("sb", given),
    () => torpor.sandboxes.pauseAndWait("sb", given),
    () => torpor.sandboxes.resumeAndWait("sb", given),
    () => sandbox.fork(given),
    () => sandbox.forkMany({ count: 2, waitMs: 0 } as never),
    () => sandbox.snapshot(given),
    () => sandbox.pauseAndWait(given),
    () => sandbox.resumeAndWait(given),
  ]) {
    expect(await failureOf(work)).toMatchObject({ code: "invalid_request", message: expect.stringContaining("waitMs") });
  }
  expect(await failureOf(() => sandbox.pause({ waitMs: 0 }))).toMatchObject({ code: "daemon_unreachable" });
});

test("a team's limits of a newer daemon go back to it", async () => {
  expect(await failureOf(() => client.teams.setLimits("t", { gpus: 1 } as never))).toMatchObject({ code: "daemon_unreachable" });
});

test("the words are the API's own", async () => {
  await using daemon = await startDaemon();
  const body = { image: "debian", nmae: 1, colour: 2 };
  const asked = request({
    socketPath: daemon.socket,
    method: "POST",
    path: "/v1/sandboxes",
    headers: { "content-type": "application/json" },
  });
  asked.end(JSON.stringify(body));
  const [answer] = (await once(asked, "response")) as [AsyncIterable<Buffer>];
  const { error } = JSON.parse(await textOf(answer)) as { error: object };
  const { code, message, details } = (await failureOf(() => torpor.create(body as never))) as InvalidRequest;
  expect({ code, message, details }).toEqual(error);
});

function expectRefusal(failure: unknown, meant: string): void {
  expect(failure).toBeInstanceOf(InvalidRequest);
  expect(failure).toMatchObject({
    code: "invalid_request",
    message: expect.stringMatching(new RegExp(`^the request is not valid: (\\w+): there is no "\\1"; did you mean "${meant}"\\?$`)),
  });
}

/** Of a call, a promise, or a generator. */
async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    const made = work();
    if (typeof made === "object" && made !== null && "next" in made) return await (made as AsyncGenerator).next();
    return await made;
  } catch (failure) {
    return failure;
  }
}
