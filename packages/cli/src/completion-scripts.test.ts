import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { completionScript } from "./completion-scripts.ts";
import { type Server, startServer } from "./testing/server.ts";
import { mainPath, torpor } from "./testing/torpor.ts";

// A folder of its own, with a home in which the scripts lie where the documents put them, and one file that could be completed too.
const directory = mkdtempSync(path.join(tmpdir(), "torpor-shells-"));
const inFish = path.join(directory, "home/.config/fish/completions");
const typing = fileURLToPath(new URL("testing/type.zsh", import.meta.url));
const inZsh = path.join(directory, "home/functions");
let server: Server;

beforeAll(async () => {
  server = await startServer();
  for (const name of ["try-a", "try-b"]) await torpor(server, ["create", "--name", name, "debian"]);
  await torpor(server, ["stop", "try-b"]);
  for (const at of [inFish, inZsh, path.join(directory, "bin"), path.join(directory, "work")]) mkdirSync(at, { recursive: true });
  writeFileSync(path.join(directory, "bin/torpor"), `#!/bin/sh\nexec '${process.execPath}' '${mainPath}' "$@"\n`, { mode: 0o755 });
  writeFileSync(path.join(inFish, "torpor.fish"), completionScript("fish"));
  writeFileSync(path.join(inZsh, "_torpor"), completionScript("zsh"));
  writeFileSync(path.join(directory, "work/notes.txt"), "");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

// The whole run installs them (scripts/lib/packages.sh); unit tests alone run on any machine.
const has = (shell: string) => spawnSync(shell, ["-c", "exit"]).status === 0;

async function run(shell: string, ...args: readonly string[]): Promise<string> {
  const home = path.join(directory, "home");
  const env = { PATH: `${directory}/bin:${process.env.PATH}`, HOME: home, TERM: "dumb", LANG: "C.UTF-8", TORPOR_SOCKET: server.socket };
  return (await promisify(execFile)(shell, args, { cwd: path.join(directory, "work"), env, timeout: 100_000 })).stdout;
}

test("bash completes commands, names of sandboxes, and files where nothing is known", async () => {
  const complete = (count: number, ...words: string[]) =>
    `COMP_WORDS=(${words.join(" ")} ""); COMP_CWORD=${count}; COMPREPLY=(); _torpor; printf "%s " "\${COMPREPLY[@]}"`;
  // `compopt` is for a completion that runs; that it is asked for files is what can be seen here.
  const lines = [
    'eval "$(torpor completion bash)"',
    'compopt() { [ "$*" = "-o\ndefault" ] && echo files; }',
    complete(1, "torpor", "pau"),
    complete(2, "torpor", "pause"),
    complete(3, "torpor", "exec", "try-a"),
  ];
  expect(await run("bash", "--norc", "-c", lines.join("; "))).toBe("pause try-a try-b files\n ");
});

test.skipIf(!has("fish"))(
  "fish completes commands, options, names of sandboxes with their state, and files where nothing is known",
  async () => {
    const complete = async (line: string) => (await run("fish", "-c", `complete -C '${line}'`)).trimEnd().split("\n");
    expect(await complete("torpor pau")).toEqual([expect.stringMatching(/^pause\t.+/)]);
    expect(await complete("torpor create --self")).toEqual([expect.stringMatching(/^--self-control\t.+/)]);
    expect(await complete("torpor pause ")).toEqual(["try-a\trunning, debian", "try-b\tstopped, debian"]);
    expect(await complete("torpor pause try-b")).toEqual(["try-b\tstopped, debian"]);
    expect(await complete("torpor exec try-a ")).toEqual(["notes.txt"]);
  },
);

test.skipIf(!has("zsh"))(
  "zsh completes commands, options, names of sandboxes, and files where nothing is known, as one types",
  async () => {
    const typed: Readonly<Record<string, string>> = {
      "torpor pau": "torpor pause ",
      "torpor create --self": "torpor create --self-control ",
      "torpor pause tr": "torpor pause try-",
      "torpor pause try-": "try-a*running, debian*try-b*stopped, debian",
      "torpor exec try-a no": "torpor exec try-a notes.txt ",
    };
    const compinit = "autoload -Uz compinit; compinit -u -D";
    const asFile = await run("zsh", "-f", typing, `fpath=(${inZsh} $fpath); ${compinit}`, ...Object.entries(typed).flat());
    expect(asFile.trimEnd().split("\n")).toEqual(Object.keys(typed));
    const evaluated = await run(
      "zsh",
      "-f",
      typing,
      `${compinit}; eval "$(torpor completion zsh)"`,
      "torpor pause tr",
      "torpor pause try-",
    );
    expect(evaluated).toBe("torpor pause tr\n");
  },
);
