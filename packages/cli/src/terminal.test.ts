import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Server, startServer } from "./testing/server.ts";
import { mainPath, torpor } from "./testing/torpor.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
  await torpor(server, ["create", "--name", "base", "debian"]);
});
afterAll(async () => server[Symbol.asyncDispose]());

interface Step {
  readonly await: string;
  readonly type: string;
}

/** A shell command on a terminal of its own, as a user has one, who types when a text has come. */
async function onTerminal(line: string, steps: readonly Step[] = []): Promise<{ code: number | null; text: string }> {
  const torporLine = `run_torpor() { "${process.execPath}" "${mainPath}" "$@"; }; ${line.replaceAll("torpor exec", "run_torpor exec")}`;
  const child = spawn("script", ["-qec", torporLine, "/dev/null"], {
    env: { ...process.env, TORPOR_SOCKET: server.socket, TERM: "dumb", SHELL: "/bin/bash" },
  });
  let text = "";
  let from = 0;
  const left = [...steps];
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    const [step] = left;
    if (step === undefined || !text.slice(from).includes(step.await)) return;
    from = text.length;
    left.shift();
    child.stdin.write(step.type);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

test("Y01: the first size is the terminal's, and a terminal is what the command has", async () => {
  const { code, text } = await onTerminal("stty rows 40 cols 120; torpor exec -it base sh -c 'tty >/dev/null && stty size; exit 5'");
  expect(text).toContain("40 120");
  expect(code).toBe(5);
});

test("keys go through as they are, and the terminal is restored afterwards", async () => {
  const saved = join(tmpdir(), `torpor-terminal-${process.pid}`);
  const line = `stty -g >${saved}; torpor exec -it -e PS1='$ ' base bash --norc; stty -g | cmp - ${saved} && echo restored; rm ${saved}`;
  const { text, code } = await onTerminal(line, [
    { await: "$ ", type: "sh -c 'echo st\"\"arted; exec sleep 60'\r" },
    { await: "started", type: "\x03" },
    { await: "$ ", type: "echo n$((40 + 2))\r" },
    { await: "n42", type: "exit 0\r" },
  ]);
  expect(text).toContain("restored");
  expect(code).toBe(0);
});

test("a terminal is asked for where there is none", async () => {
  expect(await torpor(server, ["exec", "-it", "base", "true"])).toMatchObject({ code: 1, stderr: expect.stringMatching(/not a terminal/) });
});
