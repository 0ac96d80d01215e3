import { access, lstat, mkdir, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { TorporError } from "@torpor/contract";
import { expect, test } from "vitest";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import type { TarEntry } from "./tar.ts";
import { temporaryImages } from "./temporary-images.ts";

const directory = (name: string): TarEntry => ({ name, type: "directory" });
const file = (name: string, content = "content"): TarEntry => ({ name, content });
const link = (name: string, target: string): TarEntry => ({ name, type: "symlink", target });

test.each([
  ["first", [file("a/.wh..wh..opq", ""), directory("a"), file("a/new")]],
  ["last", [directory("a"), file("a/new"), file("a/.wh..wh..opq", "")]],
])("I01: an opaque whiteout that comes %s hides the lower layer only", async (_, upper) => {
  await using it = await temporaryImages();
  const { root } = await it.importLayers([[directory("a"), directory("a/b"), file("a/b/foo")], upper]);
  expect(await readdir(path.join(root, "a"))).toEqual(["new"]);
  const alone = await it.importLayers([upper]);
  expect(await readdir(path.join(alone.root, "a"))).toEqual(["new"]);
});

test("I03: a whiteout at the root removes that name and no equal one elsewhere", async () => {
  await using it = await temporaryImages();
  const { root } = await it.importLayers([[file("test"), directory("root"), file("root/test")], [file(".wh.test", "")]]);
  expect(await readdir(root)).toEqual(["root"]);
  expect(await readdir(path.join(root, "root"))).toEqual(["test"]);
});

test.each<[string, (canary: string) => TarEntry[][]]>([
  ["a file through a link to outside", (canary) => [[link("x", canary), file("x/pwn")]]],
  ["a file through a link of a lower layer", (canary) => [[link("x", canary)], [file("x/pwn")]]],
  ["names that climb", (canary) => [[file(`../../../../../../../..${canary}/pwn`), file("a/../../../pwn")]]],
  ["an absolute name", (canary) => [[file(`${canary}/pwn`)]]],
  ["a link whose own name climbs", (canary) => [[link(`../../../../../../../..${canary}/pwn`, "/etc/passwd")]]],
  ["a whiteout through a link", (canary) => [[link("x", canary)], [file("x/.wh.canary", "")]]],
  ["an opaque whiteout through a link", (canary) => [[link("x", canary)], [file("x/.wh..wh..opq", "")]]],
  [
    "a hard link to outside",
    (canary) => [[{ name: "x", type: "hardlink", target: `../../../../../../../..${canary}/canary` }, file("x", "overwritten")]],
  ],
  ["a directory over a link, then a file in it", (canary) => [[link("x", canary)], [directory("x"), file("x/pwn")]]],
  ["the root as a link", (canary) => [[link("/", canary), file("pwn")]]],
  ["a whiteout of the root's parent", () => [[file(".wh...", "")], [file(".wh..", "")]]],
])("I04: %s stays inside or is refused", async (_, layers) => {
  await using it = await temporaryImages();
  const canary = path.join(it.directory, "canary");
  await mkdir(canary);
  await writeFile(path.join(canary, "canary"), "untouched");
  const before = await readdir(it.pool.directory("images"));
  try {
    await it.importLayers(layers(canary));
  } catch (cause) {
    expect(cause).toBeInstanceOf(TorporError);
    expect(cause).toMatchObject({ code: "image_invalid" });
    expect(await readdir(it.pool.directory("images"))).toEqual(before);
  }
  expect(await readdir(canary)).toEqual(["canary"]);
  expect(await readFile(path.join(canary, "canary"), "utf8")).toBe("untouched");
  expect((await stat(path.join(canary, "canary"))).nlink).toBe(1);
  expect(await it.leftovers()).toEqual([]);
});

test("I06: an upper layer replaces links and directories, and writes through a lower link", async () => {
  await using it = await temporaryImages();
  const { root } = await it.importLayers([
    [
      directory("usr"),
      directory("usr/bin"),
      directory("usr/lib"),
      link("usr/bin/env", "busybox"),
      file("usr/bin/busybox"),
      directory("d"),
      file("d/old"),
      link("lib", "usr/lib"),
    ],
    [file("usr/bin/env", "regular"), link("d", "usr"), file("lib/x")],
  ]);
  expect((await lstat(path.join(root, "usr/bin/env"))).isFile()).toBe(true);
  expect(await readFile(path.join(root, "usr/bin/busybox"), "utf8")).toBe("content");
  expect(await readlink(path.join(root, "d"))).toBe("usr");
  expect(await readlink(path.join(root, "lib"))).toBe("usr/lib");
  await access(path.join(root, "usr/lib/x"));
});

test("I07: parents that have no entry are made, and a hard link may point to a lower layer", async () => {
  await using it = await temporaryImages();
  const { root } = await it.importLayers([[file("base")], [file("a/b/c"), { name: "a/b/link", type: "hardlink", target: "base" }]]);
  for (const parent of ["a", "a/b"]) {
    expect(await stat(path.join(root, parent))).toMatchObject({ uid: 0, gid: 0, mode: 0o40755 });
  }
  expect(await readFile(path.join(root, "a/b/link"), "utf8")).toBe("content");
  expect((await stat(root)).mode).toBe(0o40755);
});

test("I09: setuid bits, owners and file capabilities are kept", async () => {
  await using it = await temporaryImages();
  // cap_net_raw=ep, as the kernel stores it (VFS_CAP_REVISION_2).
  const capability = Buffer.from("0100000200200000000000000000000000000000", "hex");
  const { root } = await it.importLayers([
    [
      { name: "ping", mode: 0o755, xattrs: { "security.capability": capability } },
      { name: "su", mode: 0o4755 },
      { name: "owned", uid: 1000, mode: 0o640 },
    ],
  ]);
  expect((await run("getcap", [path.join(root, "ping")])).stdout).toContain("cap_net_raw=ep");
  expect((await stat(path.join(root, "su"))).mode & 0o7777).toBe(0o4755);
  expect(await stat(path.join(root, "owned"))).toMatchObject({ uid: 1000, gid: 1000, mode: 0o100640 });
});

test("I10: the configuration is the image's; PATH has a default", async () => {
  await using it = await temporaryImages();
  const full = await it.importLayers([[file("a")]], {
    config: { Env: ["A=1", "B=x=y", "PATH=/only"], User: "1000:1000", WorkingDir: "/srv", Entrypoint: ["/entry"], Cmd: ["run", "it"] },
  });
  expect(full.image.config).toEqual({
    env: { A: "1", B: "x=y", PATH: "/only" },
    user: "1000:1000",
    workdir: "/srv",
    entrypoint: ["/entry"],
    cmd: ["run", "it"],
  });
  const empty = await it.importLayers([[file("b")]]);
  expect(empty.image.config).toMatchObject({
    env: { PATH: expect.stringContaining("/usr/bin") },
    user: null,
    workdir: null,
    entrypoint: [],
    cmd: [],
  });
});

test("a layer whose content is not the configuration's is refused", async () => {
  await using it = await temporaryImages();
  await expect(it.importLayers([[file("a")]], { diffIds: [`sha256:${"0".repeat(64)}`] })).rejects.toMatchObject({
    code: "image_digest_mismatch",
  });
  expect(await it.images.list()).toEqual([]);
});

test("an image that does not fit into the pool is refused, and nothing of it stays", async () => {
  await using it = await temporaryImages({ poolBytes: 320 * 1024 ** 2 });
  // Zeros: a hundred kilobytes compressed.
  await expect(it.importLayers([[file("zeros", "\0".repeat(100 * 1024 ** 2))]])).rejects.toMatchObject({ code: "disk_full" });
  expect(await it.leftovers()).toEqual([]);
  expect(await it.images.list()).toEqual([]);
});
