import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { nodeArchitecture } from "./layout-builder.ts";
import { startAsking, startMeddler, startRegistry } from "./registry.ts";
import { temporaryImages } from "./temporary-images.ts";

const otherArchitecture = nodeArchitecture === "arm64" ? "amd64" : "arm64";
const content = [[{ name: "etc/release", content: "one" }]];
const silent = () => {};

test("an image is pulled, unpacked and found by name, digest and the digest's start", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  const digest = await registry.push("team/app:1", content, { config: { Env: ["A=1"] } });
  const lines: string[] = [];
  const image = await it.images.pull({ reference: `${registry.address}/team/app:1` }, (line) => lines.push(line.text));
  expect(image).toMatchObject({ digest, source: "registry", references: [`${registry.address}/team/app:1`], config: { env: { A: "1" } } });
  expect(await readFile(path.join(it.images.locate(digest), "etc/release"), "utf8")).toBe("one");
  for (const name of [`${registry.address}/team/app:1`, digest, digest.slice(7, 15), digest.slice(0, 20)]) {
    expect(await it.images.find(name)).toEqual(image);
  }
  expect(await it.images.find("team/app:1")).toBeUndefined();
  expect(lines.join("\n")).toContain("Copying blob");
  expect(await it.leftovers()).toEqual([]);
});

test("a mirror serves short names under their own name", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages({ registryMirror: registry.address });
  await registry.push("library/python:3.12", content);
  const image = await it.images.pull({ reference: "python:3.12" }, silent);
  expect(image.references).toEqual(["python:3.12"]);
  expect(await it.images.find("docker.io/library/python:3.12")).toEqual(image);
});

test("an image that is here already is not fetched again, and a moved tag is followed", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  const reference = `${registry.address}/app:1`;
  await registry.push("app:1", content);
  const first = await it.images.pull({ reference }, silent);
  const lines: string[] = [];
  expect(await it.images.pull({ reference }, (line) => lines.push(line.step))).toEqual(first);
  expect(lines).toEqual(["resolve", "done"]);
  await registry.push("app:1", [[{ name: "etc/release", content: "two" }]]);
  const second = await it.images.pull({ reference }, silent);
  expect(second.digest).not.toBe(first.digest);
  expect(await it.images.find(first.digest)).toMatchObject({ references: [] });
});

test("two pulls of one reference at once are one, and different names of one image too", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  await registry.push("app:1", content);
  await registry.push("app:2", content);
  const pull = (tag: number) => it.images.pull({ reference: `${registry.address}/app:${tag}` }, silent);
  const [one, two] = await Promise.all([pull(1), pull(1), pull(2)]);
  expect(one).toBe(two);
  expect((await it.images.list()).map((image) => image.references)).toEqual([[`${registry.address}/app:1`, `${registry.address}/app:2`]]);
});

test("a registry that wants credentials gets them", async () => {
  await using registry = await startRegistry({ protectedBy: { username: "owner", password: "correct horse" } });
  await using it = await temporaryImages();
  await registry.push("private:1", content);
  const reference = `${registry.address}/private:1`;
  await expect(it.images.pull({ reference }, silent)).rejects.toMatchObject({
    code: "registry_failed",
    hint: expect.stringContaining("password"),
  });
  const wrong = { username: "owner", password: "wrong" };
  await expect(it.images.pull({ reference, credentials: wrong }, silent)).rejects.toMatchObject({ code: "registry_failed" });
  await expect(it.images.pull({ reference, credentials: registry.credentials }, silent)).resolves.toMatchObject({
    references: [reference],
  });
  expect(await it.leftovers()).toEqual([]);
});

test("credentials are in no program's arguments", async () => {
  await using it = await temporaryImages();
  const seen: string[] = [];
  await using registry = await startAsking(async () => {
    seen.push(...(await argumentsOf("skopeo")));
  });
  const credentials = { username: "owner", password: "very-secret-word" };
  await expect(it.images.pull({ reference: `${registry.address}/app:1`, credentials }, silent)).rejects.toMatchObject({
    code: "registry_failed",
  });
  expect(seen.join("\n")).toContain(registry.address);
  expect(seen.join("\n")).not.toContain(credentials.password);
});

test("I12: a pinned digest is kept to", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  const digest = await registry.push("app:1", content);
  await registry.push("app:1", [[{ name: "etc/release", content: "two" }]]);
  const pinned = await it.images.pull({ reference: `${registry.address}/app@${digest}` }, silent);
  expect(pinned).toMatchObject({ digest, references: [`${registry.address}/app@${digest}`] });
  const absent = `${registry.address}/app@sha256:${"0".repeat(64)}`;
  await expect(it.images.pull({ reference: absent }, silent)).rejects.toMatchObject({ code: "image_not_found" });
});

test.each([
  ["a layer or the configuration", /\/blobs\//],
  ["a pinned manifest", /\/manifests\/sha256:/],
])("I12: one changed byte in %s is refused and nothing is kept", async (_, pattern) => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  const digest = await registry.push("app:1", content);
  await using meddler = await startMeddler(registry, pattern);
  for (const name of ["app:1", `app@${digest}`]) {
    await expect(it.images.pull({ reference: `${meddler.address}/${name}` }, silent)).rejects.toMatchObject({
      code: "image_digest_mismatch",
    });
  }
  expect(await it.images.list()).toEqual([]);
  expect(await readdir(it.pool.directory("images"))).toEqual([]);
  expect(await it.leftovers()).toEqual([]);
});

test.each([false, true])("I12: an image for another platform is refused by both names (as an index: %s)", async (asIndex) => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  await registry.push("app:1", content, { architecture: otherArchitecture, asIndex });
  await expect(it.images.pull({ reference: `${registry.address}/app:1` }, silent)).rejects.toMatchObject({
    code: "image_invalid",
    message: expect.stringMatching(new RegExp(`linux/${otherArchitecture}.*linux/${nodeArchitecture}`)),
  });
  expect(await it.images.list()).toEqual([]);
});

test("an index is followed to this node's image, and pinned by its own digest", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  const digest = await registry.push("app:1", content, { asIndex: true });
  const image = await it.images.pull({ reference: `${registry.address}/app@${digest}` }, silent);
  expect(image.digest).not.toBe(digest);
  expect(image.platform).toBe(`linux/${nodeArchitecture}`);
});

test("what is not there, and a registry that is not, are told apart", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  await expect(it.images.pull({ reference: `${registry.address}/none:1` }, silent)).rejects.toMatchObject({ code: "image_not_found" });
  await expect(it.images.pull({ reference: "127.0.0.1:1/none:1" }, silent)).rejects.toMatchObject({ code: "registry_failed" });
});

test("a cancelled pull leaves nothing", async () => {
  await using registry = await startRegistry();
  await using it = await temporaryImages();
  await registry.push("app:1", content);
  const controller = new AbortController();
  const pulling = it.images.pull({ reference: `${registry.address}/app:1` }, () => controller.abort(), controller.signal);
  await expect(pulling).rejects.toMatchObject({ code: "timeout", message: expect.stringContaining("cancelled") });
  expect(await it.images.list()).toEqual([]);
  expect(await it.leftovers()).toEqual([]);
});

async function argumentsOf(program: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return all.filter((line) => line.startsWith(`${program}\0`));
}
