import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, startTestServer, type TestServer } from "../testing/index.ts";

let directory: string;
let server: TestServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-page-"));
  server = await startTestServer({ tcp: { page: join(directory, "dist") } });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}) => call(server.url, path, { headers });

test("a page that is not built says how to build it, and then is there", async () => {
  expect(await get("/")).toMatchObject({ status: 503, text: expect.stringContaining("Run scripts/bootstrap") });
  await mkdir(join(directory, "dist", "assets"), { recursive: true });
  await writeFile(join(directory, "secret.txt"), "secret");
  await writeFile(join(directory, "dist", ".hidden"), "secret");
  await writeFile(join(directory, "dist", "index.html"), "<!doctype html><title>Torpor</title>");
  await writeFile(join(directory, "dist", "assets", "main-1a2b.js"), "export {};");
  await writeFile(join(directory, "dist", "assets", "main-1a2b.js.gz"), "packed");
  expect(await get("/")).toMatchObject({ status: 200, text: expect.stringContaining("<title>Torpor") });
});

test("its document is at each address of the page, is not kept, and lets nothing foreign in", async () => {
  for (const path of ["/", "/index.html", "/sandboxes/box/terminal/se_a", "/sandboxes/box?tab=files"]) {
    const { status, headers, text } = await get(path);
    expect({ status, text }, path).toEqual({ status: 200, text: expect.stringContaining("<title>Torpor") });
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.replace("style-src 'self' 'unsafe-inline'", "")).not.toContain("unsafe");
  }
});

test("files with a hash in their names are kept for ever, packed ones are taken where they are there", async () => {
  const plain = await get("/assets/main-1a2b.js");
  expect(plain).toMatchObject({ status: 200, text: "export {};", headers: { "cache-control": "public, max-age=31536000, immutable" } });
  expect(plain.headers["content-type"]).toBe("application/javascript; charset=utf-8");
  expect(await get("/assets/main-1a2b.js", { "accept-encoding": "gzip" })).toMatchObject({
    text: "packed",
    headers: { "content-encoding": "gzip" },
  });
  expect(await get("/assets/gone.js")).toMatchObject({ status: 404, text: "There is no such file.\n" });
});

test("the documents are below /docs/, without a script, and what is none of them is no page either", async () => {
  expect(await get("/docs/")).toMatchObject({ status: 503, text: expect.stringContaining("Run scripts/bootstrap") });
  await mkdir(join(directory, "dist", "docs", "guides"), { recursive: true });
  await writeFile(join(directory, "dist", "docs", "index.html"), "<!doctype html><title>Documents</title>");
  await writeFile(join(directory, "dist", "docs", "guides", "ports.html"), "<!doctype html><title>Ports</title>");
  expect(await get("/docs")).toMatchObject({ status: 308, headers: { location: "/docs/" } });
  for (const [path, title] of [
    ["/docs/", "Documents"],
    ["/docs/guides/ports.html", "Ports"],
  ] as const) {
    const { status, headers, text } = await get(path);
    expect({ status, text }, path).toEqual({ status: 200, text: expect.stringContaining(`<title>${title}`) });
    expect(headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'self'; img-src 'self';/);
    expect(headers["content-security-policy"]).not.toMatch(/script-src|unsafe|connect-src/);
  }
  for (const path of ["/docs/gone.html", "/docs/guides/", "/docs/..%2f..%2fsecret.txt"]) {
    expect(await get(path), path).toMatchObject({ status: 404, text: expect.stringContaining("no such document") });
  }
});

test.each(["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/..%2f..%2fsecret.txt", "/.hidden", "/%00", "/%zz"])(
  "nothing else of the host is at %s",
  async (path) => {
    expect((await get(path)).text).not.toContain("secret");
  },
);

test("what is unknown of the API is no page", async () => {
  expect(await get("/v1/nothing")).toMatchObject({ status: 404, body: { error: { code: "route_not_found" } } });
  expect(await call(server.url, "/v1/sandboxes", { method: "PUT" })).toMatchObject({ status: 401 });
});
