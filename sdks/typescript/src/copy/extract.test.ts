import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Entry, tarOf } from "../testing/tar.ts";
import { extractInto } from "./extract.ts";

let directory: string;
let canary: string;
beforeEach(async () => {
  const base = await mkdtemp(join(tmpdir(), "torpor-extract-"));
  directory = join(base, "into");
  canary = join(base, "host");
  await mkdir(directory);
  await mkdir(canary, { mode: 0o700 });
  await writeFile(join(canary, "file"), "untouched", { mode: 0o600 });
});
afterEach(async () => rm(join(directory, ".."), { recursive: true }));

const extract = (...entries: Entry[]) => extractInto(directory, tarOf(entries), "d");

async function expectUntouched(): Promise<void> {
  expect(await readFile(join(canary, "file"), "utf8")).toBe("untouched");
  expect((await stat(canary)).mode & 0o777).toBe(0o700);
  expect((await stat(join(canary, "file"))).mode & 0o777).toBe(0o600);
  expect(await readdir(canary)).toEqual(["file"]);
}

describe("L09: a hostile archive does not touch the host", () => {
  const hostile: [string, (canary: string) => Entry[], boolean][] = [
    [
      "a file below a link",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/x/pwn", content: "!" },
      ],
      true,
    ],
    [
      "a file over a file behind a link",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/x/file", content: "!" },
      ],
      true,
    ],
    [
      "a directory that is a link, to change its mode",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/x", type: "directory", mode: 0o777 },
      ],
      true,
    ],
    [
      "the same with a slash",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/x/", type: "directory", mode: 0o777 },
      ],
      true,
    ],
    [
      "the same by another spelling",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/./y/../x", type: "directory", mode: 0o777 },
      ],
      true,
    ],
    [
      "a link below a link",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/x/l", type: "symlink", linkname: "/" },
      ],
      true,
    ],
    ["a hard link to the outside", (to) => [{ name: "d/h", type: "link", linkname: `${to}/file` }], true],
    [
      "a hard link through a link",
      (to) => [
        { name: "d/x", type: "symlink", linkname: to },
        { name: "d/h", type: "link", linkname: "d/x/file" },
      ],
      true,
    ],
    [
      "a file over a link to a file",
      (to) => [
        { name: "d/x", type: "symlink", linkname: `${to}/file` },
        { name: "d/x", content: "!" },
      ],
      false,
    ],
    [
      "names with ..",
      () => [
        { name: "d/../../host/file", content: "!" },
        { name: "../../host/pwn", content: "!" },
      ],
      false,
    ],
    ["absolute names", (to) => [{ name: `${to}/file`, content: "!" }], false],
  ];
  test.each(hostile)("%s", async (_title, entries, refused) => {
    const outcome = await extract(...entries(canary)).then(
      () => "done",
      () => "refused",
    );
    expect(outcome).toBe(refused ? "refused" : "done");
    await expectUntouched();
  });
});

test("set-user-id bits and owners do not come along, links and modes do", async () => {
  const mode = await extract(
    { name: "d", type: "directory", mode: 0o750 },
    { name: "d/s", content: "x", mode: 0o4755 },
    { name: "d/l", type: "symlink", linkname: "/etc/hostname" },
    { name: "d/h", type: "link", linkname: "d/s", mode: 0o4755 },
  );
  expect(mode).toBe(0o750);
  expect((await stat(join(directory, "s"))).mode & 0o7777).toBe(0o755);
  expect((await stat(join(directory, "h"))).ino).toBe((await stat(join(directory, "s"))).ino);
});

test("an archive that breaks off is an error", async () => {
  const whole = tarOf([{ name: "d/a", content: "x".repeat(5000) }]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of whole) chunks.push(chunk);
  async function* half() {
    yield Buffer.concat(chunks).subarray(0, 2000);
  }
  await expect(extractInto(directory, half(), "d")).rejects.toThrow();
});
