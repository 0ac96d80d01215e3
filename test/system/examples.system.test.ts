import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { TestDaemon } from "./harness/test-daemon.ts";
import { torporMain } from "./harness/torpor-process.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const example = (name: string) => path.join(root, "examples", name);

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());
// An example takes away what it made, whatever its end.
afterEach(async () => expect(await daemon.client.list()).toEqual([]));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** As a user runs it, to its end. */
async function run(command: string, args: readonly string[], { input = "", env = {} } = {}): Promise<Ended> {
  const child = spawn(command, args, { env: { ...process.env, TORPOR_SOCKET: daemon.socket, NO_COLOR: "1", ...env } });
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

test("the coding agent tries three changes side by side in each round, and ends with the code that passes", async () => {
  const { code, stdout, stderr } = await run(process.execPath, [example("coding-agent.ts")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.trim().split("\n");
  expect(lines.at(-2)).toMatch(/^round 3: .*, 4 of 4 tests pass$/);
  expect(lines.at(-1)).toMatch(/^return .*lower\(\)/);
  expect(lines.at(-1)).toContain('strip("-")');
});

test("the chat bot's Python sleeps between messages, and knows at each what it was told before", async () => {
  const { code, stdout, stderr } = await run(path.join(root, ".tools/python/newest/bin/python"), ["-W", "error", example("chat_bot.py")], {
    input: "import os; first = os.getpid()\ntotal = 20\ntotal + 22\nos.getpid() == first\nnonsense\n",
    env: { PYTHONPATH: path.join(root, "sdks/python/src"), PYTHONDONTWRITEBYTECODE: "1" },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const answers = ["done", "done", "42", "True", "NameError: name 'nonsense' is not defined"];
  expect(stdout).toBe(answers.map((answer) => `${answer}\n(paused)\n`).join(""));
});

test("the CI job runs each test in one of its shards, and fails with the shard that fails", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-ci-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const write = (name: string, content: string, mode = 0o644) => {
    mkdirSync(path.dirname(path.join(directory, name)), { recursive: true });
    writeFileSync(path.join(directory, name), content, { mode });
  };
  write("bin/torpor", `#!/bin/sh\nexec '${process.execPath}' '${torporMain}' "$@"\n`, 0o755);
  for (const project of ["good", "bad"]) {
    for (const name of ["a", "b", "c"]) {
      const product = project === "bad" && name === "b" ? 54 : 42;
      write(
        `${project}/test_${name}.py`,
        `import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(6 * 7, ${product})\n`,
      );
    }
  }
  const env = { PATH: `${directory}/bin:${process.env.PATH}` };
  const job = (project: string) => run(example("ci-shards.sh"), [path.join(directory, project), "2"], { env });
  const [good, bad] = await Promise.all([job("good"), job("bad")]);
  expect(good, good.stderr).toMatchObject({ code: 0 });
  expect(good.stdout).toMatch(/^shard 1: Ran 2 tests in .*\nshard 2: Ran 1 test in .*\n$/);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toMatch(/^shard 1: Ran 2 tests .*\nshard 2 failed:\n[\s\S]*42 != 54/);
});
