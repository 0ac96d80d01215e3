import { expect, test } from "vitest";
import { TerminalModes } from "./terminal-modes.ts";

const after = (...pieces: string[]): string => {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.see(Buffer.from(piece));
  return modes.undo();
};

test("Y11: what a program left set is taken back, the other screen last", () => {
  expect(after("\x1b[?1049h\x1b[?1000;1006h\x1b[?2004h\x1b[?25l\x1b[?1h\x1b=\x1b[1;31m")).toBe(
    "\x1b[0m\x1b>\x1b[?1l\x1b[?1000l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[?1049l",
  );
});

test("what a program has put back itself, or never touched, is left alone", () => {
  expect(after("plain\r\n")).toBe("");
  expect(after("\x1b[?1049h", "\x1b[?25l", "\x1b[?25h", "\x1b[?1049l", "\x1b[31mred\x1b[0m")).toBe("");
  expect(after("\x1b[?1003h", "\x1bc")).toBe("");
});

test("a sequence that comes in pieces is seen", () => {
  expect(after("text\x1b", "[?20", "04", "h more")).toBe("\x1b[?2004l");
  expect(after("\x1b[?1049", "h")).toBe("\x1b[?1049l");
});
