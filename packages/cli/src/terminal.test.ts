import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serverWithBase } from "./testing/server-with-base.ts";
import { type Step, typeOn } from "./testing/terminal.ts";
import { torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const onTerminal = (line: string, steps?: readonly Step[]) => typeOn(server, line, steps);

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
