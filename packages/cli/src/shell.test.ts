import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { firstLine } from "./testing/first-line.ts";
import { serverWithBase } from "./testing/server-with-base.ts";
import { type Step, typeOn } from "./testing/terminal.ts";
import { launch, outcome, torpor } from "./testing/torpor.ts";

const server = serverWithBase();

const onTerminal = (line: string, steps?: readonly Step[]) => typeOn(server, line, steps);
const sessions = async () => JSON.parse((await torpor(server, ["sessions", "--json", "base"])).text) as { id: string; end: unknown }[];

test("a shell stays when it is left, and goes on where it was", async () => {
  const first = await onTerminal("torpor shell base", [
    // What is typed before it runs is a line of the shell's, and no end of its input.
    { await: "# ", type: 'x=41; echo re""ads; cat >/dev/null; echo a""wake\r' },
    { await: "reads", type: "\x10\x11" },
  ]);
  expect(first.code).toBe(0);
  expect(first.text).toMatch(/torpor: detached; the session goes on: torpor attach base se_/);
  const again = await onTerminal("torpor shell --attach base", [
    { await: "reads", type: "\x04" },
    { await: "awake", type: "echo n$((x + 1))\r" },
    { await: "n42", type: "exit 3\r" },
  ]);
  expect(again.code).toBe(3);
  expect((await sessions()).length).toBe(1);
  expect(await torpor(server, ["sessions", "base"])).toMatchObject({
    code: 0,
    text: expect.stringMatching(/terminal +exited 3 .* login shell\n$/),
  });
  expect((await torpor(server, ["shell", "base"])).stderr).toContain("a shell needs a terminal");
});

test("Y11: however it is left, the terminal is as it was", async () => {
  const saved = join(tmpdir(), `torpor-shell-${process.pid}`);
  const line = `stty -g >${saved}; torpor exec -t -d base sh -c "printf '\\033[?1049h\\033[?25l\\033[?2004h'; echo re''ady; read x; exit 4" >/dev/null; torpor attach --detach-keys ctrl-] base; stty -g | cmp - ${saved} && echo restored`;
  const left = await onTerminal(line, [{ await: "ready", type: "\x1d" }]);
  expect(left.text).toContain("\x1b[?2004l\x1b[?25h\x1b[?1049l");
  expect(left.text).toContain("restored");
  const ended = await onTerminal(`torpor attach base; echo code $?; stty -g | cmp - ${saved} && echo restored; rm ${saved}`, [
    { await: "ready", type: "\r" },
  ]);
  expect(ended.text.slice(ended.text.indexOf("\x1b[?2004l\x1b[?25h\x1b[?1049l"))).toMatch(/code 4\s+restored/);
});

test("attach watches what was detached, from a number on, to its end and its code", async () => {
  const sid = (await torpor(server, ["exec", "-d", "base", "sh", "-c", "echo one; sleep 0.3; echo two >&2; exit 6"])).text.trim();
  expect(await torpor(server, ["attach", "--no-stdin", "base", sid])).toMatchObject({ code: 6, text: "one\n", stderr: "two\n" });
  expect(await torpor(server, ["attach", "--no-stdin", "--after", "1", "base", sid])).toMatchObject({ code: 6, text: "", stderr: "two\n" });
  expect((await torpor(server, ["attach", "base", "se_aaaaaaaaaaaaaaaa"])).stderr).toContain("se_aaaaaaaaaaaaaaaa");
});

test("a pause ends the attachment with the way to go on, and a sandbox that wakes for calls is woken by the next", async () => {
  await torpor(server, ["create", "--name", "sleepy", "--auto-resume", "debian"]);
  const sid = (await torpor(server, ["exec", "-i", "-d", "sleepy", "sh", "-c", "echo on; read x; echo got $x"])).text.trim();
  const watching = launch(server, ["attach", "--no-stdin", "sleepy", sid]);
  expect(await firstLine(watching.stdout as Readable)).toBe("on");
  const ended = outcome(watching);
  await torpor(server, ["pause", "sleepy"]);
  expect(await ended).toMatchObject({
    code: 1,
    stderr: `torpor: sandbox sleepy was paused; the session goes on after torpor resume sleepy: torpor attach sleepy ${sid}\n`,
  });
  expect(await torpor(server, ["attach", "sleepy", sid], { input: "it\n" })).toMatchObject({ code: 0, text: "on\ngot it\n" });
});
