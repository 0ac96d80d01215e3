import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { Entry } from "@torpor/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../testing/index.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await server.app.inject({ method: "POST", url: "/v1/sandboxes", payload: { image: "debian", name: "base" } });
});
afterAll(async () => server[Symbol.asyncDispose]());

const address = (path: string, more = "") => `/v1/sandboxes/base/files?path=${encodeURIComponent(path)}${more}`;
const put = (path: string, payload: Buffer | string, more = "") =>
  server.app.inject({ method: "PUT", url: address(path, more), payload, headers: { "content-type": "application/octet-stream" } });
const sha = (data: Buffer) => createHash("sha256").update(data).digest("hex");

test("L07: a path is percent-decoded once, so that these are five files", async () => {
  const names = ["a%20b", "a b", "a+b", "x#y?z", "%2e%2e"];
  for (const name of names)
    expect((await put(name, `I am ${name}`)).json()).toMatchObject({ path: expect.stringContaining(name), size: name.length + 5 });
  for (const name of names) expect((await server.app.inject(address(name))).body).toBe(`I am ${name}`);
  const listed = await server.app.inject("/v1/sandboxes/base/files/list?path=/");
  expect(listed.json().entries.map(({ name }: Entry) => name)).toEqual(expect.arrayContaining(names));
});

test.each([0, 1, 4095, 4096, 18_000, 65_535, 65_536, 65_537, 131_072, 5_000_000])("L01: %i bytes come back as they were", async (size) => {
  const content = randomBytes(size);
  expect((await put("/data", content)).json().size).toBe(size);
  const back = await server.app.inject(address("/data"));
  expect(sha(back.rawPayload)).toBe(sha(content));
  expect(Entry.parse(JSON.parse(decodeURIComponent(String(back.headers["x-torpor-entry"]))))).toMatchObject({ size, type: "file" });
});

test("L01: an upload that is cut off leaves the old file", async () => {
  await put("/kept", "old");
  const upload = request({
    socketPath: server.socketPath,
    method: "PUT",
    path: address("/kept"),
    headers: { "content-length": 1_000_000 },
  });
  upload.on("error", () => {});
  // Once the write has begun, half of it is sent and the connection is cut.
  const ended = new Promise<void>((resolve) => {
    const files = server.served.lifecycle;
    const guest = files.guest;
    files.guest = async (id) => {
      const line = await guest(id);
      files.guest = guest;
      return { ...line, files: { ...line.files, write: (...given) => line.files.write(...given).finally(resolve) } };
    };
  });
  upload.write(randomBytes(500_000), () => upload.destroy());
  await ended;
  expect((await server.app.inject(address("/kept"))).body).toBe("old");
  const listed = await server.app.inject("/v1/sandboxes/base/files/list?path=/");
  expect(listed.json().entries.map(({ name }: Entry) => name)).not.toContain("kept.part");
});

test("modes, directories, moves and removal", async () => {
  expect((await put("/deep/er/file", "x", "&parents=true&mode=750")).json()).toMatchObject({ mode: 0o750 });
  expect((await put("/no/where", "x")).json().error.code).toBe("file_not_found");
  const made = await server.app.inject({ method: "POST", url: "/v1/sandboxes/base/files/directories", payload: { path: "/made" } });
  expect(made.statusCode).toBe(201);
  const moved = await server.app.inject({
    method: "POST",
    url: "/v1/sandboxes/base/files/move",
    payload: { from: "/deep/er/file", to: "/made/file" },
  });
  expect(moved.json()).toMatchObject({ name: "file" });
  const notEmpty = await server.app.inject({ method: "DELETE", url: address("/made") });
  expect(notEmpty.json().error.code).toBe("directory_not_empty");
  const removed = await server.app.inject({ method: "DELETE", url: address("/made", "&recursive=true") });
  expect(removed.statusCode).toBe(204);
  expect((await server.app.inject("/v1/sandboxes/base/files/stat?path=/made")).json().error.code).toBe("file_not_found");
});

test("an archive goes out and comes in; one that isn't there is a refusal, not a broken stream", async () => {
  await put("/tree/a", "one", "&parents=true");
  const archive = await server.app.inject("/v1/sandboxes/base/archive?path=/tree");
  expect(archive.headers["content-type"]).toBe("application/x-tar");
  const unpacked = await server.app.inject({
    method: "PUT",
    url: "/v1/sandboxes/base/archive?path=/copy",
    payload: archive.rawPayload,
    headers: { "content-type": "application/x-tar" },
  });
  expect(unpacked.statusCode).toBe(200);
  expect((await server.app.inject(address("/copy/tree/a"))).body).toBe("one");
  const missing = await server.app.inject("/v1/sandboxes/base/archive?path=/nope");
  expect(missing.statusCode).toBe(404);
});
