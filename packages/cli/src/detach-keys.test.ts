import { expect, test } from "vitest";
import { DetachKeys, parseDetachKeys } from "./detach-keys.ts";

const type = (keys: string, ...typed: string[]) => {
  const filter = new DetachKeys(parseDetachKeys(keys));
  const given = typed.map((text) => filter.filter(Buffer.from(text, "latin1")));
  return { text: Buffer.concat(given.map(({ data }) => data)).toString("latin1"), detach: given.some(({ detach }) => detach) };
};

test("the keys detach, also when they come one by one", () => {
  expect(type("ctrl-p,ctrl-q", "ls\x10\x11rest")).toEqual({ text: "ls", detach: true });
  expect(type("ctrl-p,ctrl-q", "ls\x10", "\x11")).toEqual({ text: "ls", detach: true });
  expect(type("~,.", "~.")).toEqual({ text: "", detach: true });
  expect(type("ctrl-]", "a\x1d")).toEqual({ text: "a", detach: true });
});

test("what only begins like them is typed", () => {
  expect(type("ctrl-p,ctrl-q", "\x10", "x")).toEqual({ text: "\x10x", detach: false });
  expect(type("ctrl-p,ctrl-q", "\x10\x10\x11")).toEqual({ text: "\x10", detach: true });
  expect(type("a,a,b", "aaab")).toEqual({ text: "a", detach: true });
  expect(type("none", "\x10\x11")).toEqual({ text: "\x10\x11", detach: false });
});

test("what is no key is refused", () => {
  expect(() => parseDetachKeys("ctrl-")).toThrow("no key to detach with");
  expect(() => parseDetachKeys("")).toThrow("no key to detach with");
});
