import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { torpor } from "./testing/torpor.ts";

let base: string;
let data: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "torpor-daemon-"));
  data = join(base, "data");
});
afterEach(async () => rm(base, { recursive: true }));

const daemon = (...args: string[]) =>
  torpor({ socket: join(data, "torpord.sock") }, ["daemon", ...args, "--data", data], { env: { TORPOR_RUNSC: "/nowhere/runsc" } });

test("a daemon that can't start says why, and what it made can be removed", async () => {
  expect(await daemon("start")).toMatchObject({
    code: 1,
    text: "",
    stderr: expect.stringMatching(/^torpor: torpord did not start: .+\nhint: .+\n$/),
  });
  expect(await daemon("status")).toMatchObject({ code: 1, text: "running: false\n" });
  expect(await daemon("stop", "--remove-data")).toMatchObject({ code: 0, stderr: `torpord is not running\nremoved ${data}\n` });
  expect(existsSync(data)).toBe(false);
});

test("a directory that is no data directory is not removed", async () => {
  await writeFile(join(base, "precious"), "x");
  const result = await torpor({ socket: "/nowhere/s" }, ["daemon", "stop", "--remove-data", "--data", base]);
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("is no data directory of torpord: nothing was removed") });
  expect(existsSync(join(base, "precious"))).toBe(true);
});

test("a lock file with a stranger's pid ends nobody", async () => {
  await writeFile(join(base, "torpord.lock"), `${process.pid}\n`);
  const result = await torpor({ socket: "/nowhere/s" }, ["daemon", "stop", "--data", base]);
  expect(result).toMatchObject({ code: 0, stderr: "torpord is not running\n" });
});
