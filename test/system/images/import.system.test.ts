import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { writeLayout } from "./layout-builder.ts";
import { tar } from "./tar.ts";
import { temporaryImages } from "./temporary-images.ts";

const silent = () => {};
const content = [
  { name: "etc/", type: "directory" as const },
  { name: "etc/release", content: "one" },
];

test("a root file system is the same image whatever packs it", async () => {
  await using it = await temporaryImages();
  const plain = path.join(it.directory, "root.tar");
  await writeFile(plain, tar(content));
  await writeFile(`${plain}.gz`, gzipSync(tar(content)));
  await writeFile(`${plain}.zst`, zstdCompressSync(tar(content)));
  await run("xz", ["--keep", plain]);
  const images = [];
  for (const suffix of ["", ".gz", ".zst", ".xz"]) {
    images.push(await it.images.import({ path: plain + suffix, reference: `root${suffix}` }, silent));
  }
  expect(new Set(images.map((image) => image.digest)).size).toBe(1);
  expect(images.at(-1)).toMatchObject({
    source: "rootfs",
    references: ["root.gz:latest", "root.xz:latest", "root.zst:latest", "root:latest"],
  });
  expect(await readFile(path.join(it.images.locate(images[0]!.digest), "etc/release"), "utf8")).toBe("one");
});

test("layouts, as directories and as tars, and docker archives are told apart by looking", async () => {
  await using it = await temporaryImages();
  const layout = path.join(it.directory, "layout:with a colon");
  await writeLayout(layout, [content], { config: { User: "7" } });
  await run("tar", ["--create", "--file", path.join(it.directory, "layout.tar"), "--directory", layout, "."]);
  const archive = path.join(it.directory, "docker.tar");
  await run("ln", ["--symbolic", layout, path.join(it.directory, "plain")]);
  await run("skopeo", ["--insecure-policy", "copy", `oci:${path.join(it.directory, "plain")}`, `docker-archive:${archive}:app:1`]);
  const load = (from: string) => it.images.import({ path: from, reference: "app:1" }, silent);
  const directory = await load(layout);
  expect(directory).toMatchObject({ source: "oci-layout", config: { user: "7" } });
  expect((await load(path.join(it.directory, "layout.tar"))).digest).toBe(directory.digest);
  const docker = await load(archive);
  expect(docker).toMatchObject({ source: "docker-archive", config: { user: "7" }, references: ["app:1"] });
  expect(await readFile(path.join(it.images.locate(docker.digest), "etc/release"), "utf8")).toBe("one");
});

test("what is no image is refused by name, and nothing of it stays", async () => {
  await using it = await temporaryImages();
  const place = (name: string) => path.join(it.directory, name);
  await writeFile(place("text"), "neither a tar nor a layout");
  await mkdir(place("empty"));
  await writeFile(place("cut.tar.gz"), gzipSync(tar(content)).subarray(0, 60));
  await writeFile(place("climbs.tar"), tar([{ name: "../../escaped", content: "x" }]));
  await writeLayout(place("damaged"), [content]);
  const blob = (await writeLayout(place("damaged"), [content])).slice("sha256:".length);
  await writeFile(path.join(place("damaged"), "blobs", "sha256", blob), "{}");
  for (const name of ["text", "empty", "cut.tar.gz"]) {
    await expect(it.images.import({ path: place(name), reference: "x" }, silent)).rejects.toMatchObject({ code: "image_invalid" });
  }
  await expect(it.images.import({ path: place("none"), reference: "x" }, silent)).rejects.toMatchObject({ code: "image_not_found" });
  await expect(it.images.import({ path: place("damaged"), reference: "x" }, silent)).rejects.toMatchObject({
    code: expect.stringMatching(/^image_(invalid|digest_mismatch)$/),
  });
  expect(await it.images.list()).toEqual([]);
  expect(await it.leftovers()).toEqual([]);
});

test("a bad reference is refused before anything is read", async () => {
  await using it = await temporaryImages();
  for (const reference of ["Bad Name", `x@sha256:${"0".repeat(64)}`]) {
    await expect(it.images.import({ path: "/nowhere", reference }, silent)).rejects.toMatchObject({ code: "invalid_request" });
  }
});

test("an image goes with its last reference, unless it is in use", async () => {
  await using it = await temporaryImages();
  const { image, root } = await it.importLayers([content]);
  await it.importLayers([content]);
  const inUse = new Set([image.digest]);
  await it.images.remove("test/image:1", inUse);
  await expect(it.images.remove("test/image:2", inUse)).rejects.toMatchObject({ code: "image_in_use" });
  expect(await readFile(path.join(root, "etc/release"), "utf8")).toBe("one");
  await it.images.remove("test/image:2", new Set());
  await expect(readFile(path.join(root, "etc/release"))).rejects.toThrow("ENOENT");
  await expect(it.images.remove("test/image:2", new Set())).rejects.toMatchObject({ code: "image_not_found" });
});

test("a digest takes all references with it, and prune what nothing needs", async () => {
  await using it = await temporaryImages();
  const one = await it.importLayers([content]);
  const two = await it.importLayers([[{ name: "other" }]]);
  const three = await it.importLayers([[{ name: "third" }]]);
  await it.images.remove(one.image.digest.slice(0, 20), new Set());
  expect(await it.images.find("test/image:1")).toBeUndefined();
  const pruned = await it.images.prune(new Set([two.image.digest]));
  expect(pruned.removed).toEqual([three.image.digest]);
  expect((await it.images.list()).map((image) => image.digest)).toEqual([two.image.digest]);
  expect(await it.images.find("test/image:3")).toBeUndefined();
});
