import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { torpor } from "./testing/torpor.ts";

let server: Server;
let directory: string;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => server[Symbol.asyncDispose]());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "torpor-cp-"));
  await mkdir(join(directory, "src/sub"), { recursive: true });
  await writeFile(join(directory, "src/a"), "one");
  await chmod(join(directory, "src/a"), 0o751);
  await writeFile(join(directory, "src/sub/b"), "two");
  await symlink("/etc/hostname", join(directory, "src/l"));
  await torpor(server, ["create", "--name", "base", "debian"]);
});
afterEach(async () => {
  await torpor(server, ["remove", "--force", "base"]);
  await rm(directory, { recursive: true });
});

const cp = (...args: string[]) => torpor(server, ["cp", ...args], { cwd: directory });
const inside = async (command: string) => (await torpor(server, ["exec", "base", "sh", "-c", command])).text;
const here = (...names: string[]) => join(directory, ...names);

describe("L10: what cp makes", () => {
  test("of a file: a new name, a name in a directory, or a clear error", async () => {
    expect((await cp("src/a", "base:/new")).code).toBe(0);
    expect(await inside("cat new; stat -c %a new")).toBe("one751\n");
    await inside("mkdir d");
    expect((await cp("src/a", "base:/d")).code).toBe(0);
    expect(await inside("cat d/a")).toBe("one");
    expect(await cp("src/a", "base:/nope/")).toMatchObject({ code: 1, stderr: expect.stringContaining("no directory /nope/") });
    expect((await cp("base:/d/a", "f")).code).toBe(0);
    expect(await readFile(here("f"), "utf8")).toBe("one");
    expect((await cp("base:/d/a", "src/sub")).code).toBe(0);
    expect(await readFile(here("src/sub/a"), "utf8")).toBe("one");
    expect((await stat(here("f"))).mode & 0o777).toBe(0o751);
  });

  test("of a directory: itself under a new name, below a directory that is there, or what is in it", async () => {
    expect((await cp("src", "base:/x")).code).toBe(0);
    expect((await cp("src", "base:/x")).code).toBe(0);
    expect(await inside("cat x/a x/src/sub/b; readlink x/l")).toBe("onetwo/etc/hostname\n");
    expect((await cp("base:/x", "out")).code).toBe(0);
    expect((await cp("base:/x", "out")).code).toBe(0);
    expect((await cp("base:/x/.", "out")).code).toBe(0);
    expect((await readdir(here("out"))).sort()).toEqual(["a", "l", "src", "sub", "x"]);
    expect(await readlink(here("out/l"))).toBe("/etc/hostname");
    expect(await readFile(here("out/x/src/sub/b"), "utf8")).toBe("two");
  });

  test("what can't be done leaves nothing behind", async () => {
    await inside("mkdir -p d; echo x >d/a; mkdir d/sub");
    expect(await cp("base:/nope", "got")).toMatchObject({ code: 1, stderr: expect.stringContaining("/nope") });
    expect(await cp("base:/d", "src/a")).toMatchObject({ code: 1, stderr: expect.stringContaining("not a directory") });
    expect(await cp("base:/d/a", "none/a")).toMatchObject({ code: 1, stderr: expect.stringContaining("no directory here") });
    await mkdir(here("clash/a"), { recursive: true });
    expect(await cp("base:/d/.", "clash")).toMatchObject({ code: 1, stderr: expect.stringContaining("clash/a is there") });
    expect(await readdir(here("clash"))).toEqual(["a"]);
    expect(await cp("nosuch", "base:/y")).toMatchObject({ code: 1 });
    expect(await cp("src/a", "src/sub")).toMatchObject({ code: 1, stderr: expect.stringContaining("neither path is in a sandbox") });
    expect((await readdir(directory)).sort()).toEqual(["clash", "src"]);
  });

  test("a device is written to, never replaced", async () => {
    await inside("echo x >a");
    expect((await cp("base:/a", "/dev/null")).code).toBe(0);
    expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
  });
});

test("- is a tar stream, out and in", async () => {
  await cp("src", "base:/x");
  const archive = await cp("base:/x", "-");
  expect(archive.code).toBe(0);
  expect((await torpor(server, ["cp", "-", "base:/y"], { input: archive.stdout })).code).toBe(0);
  expect(await inside("cat y/x/sub/b")).toBe("two");
});
