import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createProgram } from "../../packages/cli/src/app.ts";
import { blocksFor, root } from "./blocks.ts";

type Command = Awaited<ReturnType<typeof createProgram>>;

/** Of each command of the reference its usage, then its examples. */
const blocks = blocksFor(import.meta.url).map(({ text }) => text.trim());
const usages = blocks.filter((_, place) => place % 2 === 0);
const examples = [...new Set(blocks.filter((_, place) => place % 2 === 1).flatMap((block) => block.split("\n")))];

/** These do something on this host first, or read their input to its end: that they are taken is enough. */
const local = /^(daemon|doctor|login|context|completion|version|repl)\b|--secret-stdin|--username/;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "torpor-examples-"));
  for (const name of ["file", "netrc", "secret.txt", "password.txt", "token.txt"]) writeFileSync(path.join(directory, name), "x\n");
  for (const name of ["src", ".config/fish/completions", ".zfunc"]) mkdirSync(path.join(directory, name), { recursive: true });
  process.chdir(directory);
  vi.stubEnv("TOKEN", "of the environment");
});
afterAll(() => {
  vi.unstubAllEnvs();
  process.chdir(root);
  rmSync(directory, { recursive: true });
});

describe("docs/reference/cli.md", () => {
  test("has of each command the usage that its help has", async () => {
    const leaves = (await createProgram()).commands.flatMap(leavesOf);
    expect(usages).toEqual(
      leaves.map((leaf) =>
        leaf
          .helpInformation()
          .split("\n", 1)[0]
          ?.replace(/^Usage: |\|\w+/g, ""),
      ),
    );
  });

  test.each(examples)("%s", async (example) => {
    const calls = callsOf(example);
    expect(calls).not.toEqual([]);
    for (const words of calls) {
      if (local.test(words.join(" "))) expect(await taken(words)).toBe(true);
      else expect(await outcomeOf(words)).toMatch(/torpord is not running|a terminal/);
    }
  });
});

/** The words that a shell makes of a line, for each `torpor` in it. */
function callsOf(line: string): string[][] {
  const torpor = `exec 9>&1 >/dev/null; torpor() { { printf '%s\\0' "$@"; printf '\\n\\0'; } >&9; echo base; }; base() { :; }; tar() { :; }`;
  const said = execFileSync("bash", ["-c", `${torpor}\n${line}`], {
    cwd: directory,
    env: { ...process.env, HOME: directory },
    encoding: "utf8",
  });
  const calls = said.split("\n\0").slice(0, -1);
  return calls.map((words) => words.split("\0").slice(0, -1));
}

/** Up to where it would begin its work. */
async function taken(words: readonly string[]): Promise<boolean> {
  const program = await createProgram();
  let begun = false;
  for (const leaf of program.commands.flatMap(leavesOf)) {
    leaf.action(() => {
      begun = true;
    });
  }
  await program.parseAsync(words, { from: "user" });
  return begun;
}

/** Up to where it would call the daemon: there is none. Gives what it says of that. */
async function outcomeOf(words: readonly string[]): Promise<string> {
  const said: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
  const code = process.exitCode;
  onTestFinished(() => {
    write.mockRestore();
    process.exitCode = code;
  });
  const program = await createProgram();
  await program
    .parseAsync(["--socket", path.join(directory, "torpord.sock"), ...words], { from: "user" })
    .catch((error: unknown) => said.push(String(error)));
  return said.join("");
}

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
