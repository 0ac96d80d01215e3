import { chmod, chown, lchown, mkdir, open, readdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Difference } from "@torpor/contract";
import type { FileTree } from "@torpor/core";
import { comparisonConformance } from "@torpor/core/testing";
import { expect, test } from "vitest";
import { run } from "../../../packages/daemon/src/host/spawn.ts";
import { leftovers, readHostState } from "../harness/host-state.ts";
import { eventually } from "../harness/inside.ts";
import { type TemporaryTrees, temporaryTrees } from "./temporary-trees.ts";

comparisonConformance("the comparison of disks", async () => {
  const it = await temporaryTrees();
  const image = await it.image((root) => mkdir(path.join(root, "data")));
  return {
    comparison: it.comparison,
    image,
    tree: (files) => it.tree(image, (root) => Promise.all(Object.entries(files).map(([name, text]) => writeFile(root + name, text)))),
    dispose: async () => it[Symbol.asyncDispose](),
  };
});

test("a fork and its parent: every kind of change, each told once and in order", async () => {
  await using it = await temporaryTrees();
  const image = await it.image(async (root) => {
    for (const directory of ["etc", "lib/deep", "old", "moved", "same"]) await mkdir(path.join(root, directory), { recursive: true });
    for (const name of ["etc/conf", "etc/mode", "etc/owner", "lib/deep/one", "lib/two", "moved/x", "old/a", "same/file"]) {
      await writeFile(path.join(root, name), name, { mode: 0o644 });
    }
    await symlink("/etc/conf", path.join(root, "link"));
  });
  const parent = await it.tree(image, async (root) => {
    await writeFile(path.join(root, "etc/both"), "of both");
    await writeFile(path.join(root, "etc/rewritten"), "AAAA");
    await utimes(path.join(root, "etc/rewritten"), 1, 1);
    await writeFile(path.join(root, "made"), "by the parent");
    await rm(path.join(root, "same/file"));
    await writeFile(path.join(root, "same/file"), "same/file");
  });
  const child = await it.fork(parent, async (root) => {
    const at = (name: string) => path.join(root, name);
    await writeFile(at("etc/conf"), "CHANGED!");
    await chmod(at("etc/mode"), 0o4755);
    await chown(at("etc/owner"), 1000, 50);
    await rm(at("etc/both"));
    // Of one size and time with what it was (F13).
    await writeFile(at("etc/rewritten"), "BBBB");
    await utimes(at("etc/rewritten"), 1, 1);
    // Whole directories: one that hides the image's, one that becomes a file, one that moves away.
    await rm(at("lib"), { recursive: true });
    await mkdir(at("lib"));
    await writeFile(at("lib/two"), "lib/two");
    await rm(at("old"), { recursive: true });
    await writeFile(at("old"), "a file now");
    await run("mv", [at("moved"), at("renamed")]);
    await rm(at("link"));
    await symlink("elsewhere", at("link"));
    await lchown(at("link"), 7, 7);
    await rename(at("made"), at("made2"));
    await run("mkfifo", [at("pipe")]);
    await mkdir(at("new/deeper"), { recursive: true });
    await writeFile(at("new/deeper/file"), "");
    await chmod(at("same"), 0o700);
  });
  const told = [
    "removed /etc/both",
    "changed /etc/conf content",
    "changed /etc/mode mode",
    "changed /etc/owner owner",
    "changed /etc/rewritten content",
    "removed /lib/deep",
    "removed /lib/deep/one",
    "changed /link content owner",
    "removed /made",
    "added /made2",
    "removed /moved",
    "removed /moved/x",
    "added /new",
    "added /new/deeper",
    "added /new/deeper/file",
    "changed /old type",
    "removed /old/a",
    "added /pipe",
    "added /renamed",
    "added /renamed/x",
    "changed /same mode",
  ];
  expect(await lines(it, parent, child)).toEqual(told);
  const all = await differences(it, parent, child);
  const one = (name: string) => all.find((each) => each.path === name);
  expect(one("/etc/mode")).toMatchObject({ before: { mode: 0o644 }, after: { mode: 0o4755 } });
  expect(one("/etc/owner")).toMatchObject({ before: { uid: 0, gid: 0 }, after: { uid: 1000, gid: 50 } });
  expect(one("/link")).toMatchObject({ before: { type: "symlink", target: "/etc/conf" }, after: { target: "elsewhere" } });
  expect(one("/old")).toMatchObject({ before: { type: "directory" }, after: { type: "file", size: 10 } });
  expect(one("/pipe")).toMatchObject({ after: { type: "other" } });
  // The way back is the same with both sides changed; over another image of the same files nothing else is another.
  const swapped: Record<string, string> = { added: "removed", removed: "added" };
  expect((await lines(it, child, parent)).sort()).toEqual(
    told.map((line) => line.replace(/^\w+/, (change) => swapped[change] ?? change)).sort(),
  );
  const copy = await it.image((root) => run("cp", ["--archive", `${image.image}/.`, root]));
  expect(await lines(it, parent, { ...child, image: copy.image })).toEqual(told);
  expect(await lines(it, image, copy)).toEqual([]);
  expect(await lines(it, image, parent)).toEqual(["added /etc/both", "added /etc/rewritten", "added /made"]);
});

test("names that a hostile guest may choose, holes of terabytes, and more levels than anybody has", async () => {
  await using it = await temporaryTrees();
  const image = await it.image(async () => {});
  const names = [
    Buffer.from("new\nline"),
    Buffer.from([0x66, 0xff, 0xfe]),
    Buffer.from("\u001b[2J"),
    Buffer.from("-rf"),
    Buffer.from("x".repeat(255)),
  ];
  const sparse = async (root: string, text: string) => {
    await using file = await open(path.join(root, "sparse"), "w");
    await file.write(text, 2 ** 42 - 4096);
  };
  const deep = (root: string) => run("sh", ["-c", 'cd "$1"; for i in $(seq 1010); do mkdir d; cd -P d; done', "sh", root]);
  const before = await it.tree(image, (root) => sparse(root, "one"));
  const after = await it.tree(image, async (root) => {
    await sparse(root, "two");
    for (const name of names) await writeFile(Buffer.concat([Buffer.from(`${root}/`), name]), "");
    await symlink(Buffer.from([0xff]), path.join(root, "to"));
    // Read by the host it would be the host's.
    await symlink("/etc", path.join(root, "z"));
    await deep(root);
  });
  const all = await differences(it, before, after);
  const given = all.map(({ path: name, pathBase64 }) => (pathBase64 === undefined ? Buffer.from(name) : Buffer.from(pathBase64, "base64")));
  for (const name of names) expect(given.some((one) => one.equals(Buffer.concat([Buffer.from("/"), name])))).toBe(true);
  expect(all.filter(({ change }) => change === "changed")).toMatchObject([{ path: "/sparse", what: ["content"] }]);
  expect(all.find(({ path: name }) => name === "/to")?.after).toMatchObject({ target: "\ufffd", targetBase64: "/w==" });
  expect(all.filter(({ path: name }) => name.startsWith("/z"))).toHaveLength(1);
  expect(all.filter(({ change }) => change === "unread")).toMatchObject([
    { path: `/${Array(1001).fill("d").join("/")}`, reason: expect.stringContaining("1000") },
  ]);
  expect(await lines(it, after, after)).toEqual([`unread /${Array(1001).fill("d").join("/")}`]);
});

test("a disk in use is neither mounted nor kept from use, and nothing is left, whatever ends the comparison", async () => {
  await using it = await temporaryTrees();
  const image = await it.image(async () => {});
  const held = () => leftovers(readHostState([it.dataDirectory])).filter((line) => !line.includes("pool.img"));
  const tree = await it.tree(image, async () => {});
  const many = Array.from({ length: 3000 }, (_, i) => String(i).padStart(200, "0"));
  const write = async (root: string) => {
    for (const name of many) await writeFile(path.join(root, name), "");
  };
  await it.live(tree, write, async () => {
    const before = held();
    const settled = () =>
      eventually(
        async () => held(),
        (now) => JSON.stringify(now) === JSON.stringify(before),
      );
    const found = await lines(it, image, tree);
    expect(found).toEqual(many.map((name) => `added /${name}`));
    await settled();
    const busy = Array.from({ length: 4 }, () => it.comparison.compare(image, tree)[Symbol.asyncIterator]());
    for (const one of busy) await one.next();
    await expect(lines(it, image, tree)).rejects.toMatchObject({ code: "capacity_exceeded" });
    for (const one of busy) await one.return?.();
    await settled();
    // Killed while it waits for a reader.
    const slow = it.comparison.compare(image, tree)[Symbol.asyncIterator]();
    await slow.next();
    const [pid = ""] = (await run("pgrep", ["--full", `torpor-shim compare ${it.dataDirectory}`])).stdout.split("\n");
    expect(held().length).toBeGreaterThan(before.length);
    process.kill(Number(pid), "SIGKILL");
    const rest = async () => {
      for (let next = await slow.next(); next.done !== true; next = await slow.next());
    };
    await expect(rest()).rejects.toMatchObject({ code: "storage_failed", message: expect.stringContaining("broke off") });
    await settled();
  });
  expect(await readdir(path.join(it.dataDirectory, "pool/tmp"))).toEqual([]);
});

async function differences({ comparison }: TemporaryTrees, before: FileTree, after: FileTree): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const one of comparison.compare(before, after)) found.push(one);
  return found;
}

async function lines(it: TemporaryTrees, before: FileTree, after: FileTree): Promise<string[]> {
  return (await differences(it, before, after)).map(({ change, path: name, what }) => [change, name, ...what].join(" "));
}
