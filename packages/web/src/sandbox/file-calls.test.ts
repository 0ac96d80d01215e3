import { expect, test } from "vitest";
import { crumbsOf, downloadAddress, isNamable, join, parentOf, textOf } from "./file-calls.ts";

test("paths are put together and taken apart", () => {
  expect([join("/", "a"), join("/a", "b c")]).toEqual(["/a", "/a/b c"]);
  expect([parentOf("/a/b"), parentOf("/a"), parentOf("/")]).toEqual(["/a", "/", "/"]);
  expect(crumbsOf("/usr/share")).toEqual([
    ["/", "/"],
    ["usr", "/usr"],
    ["share", "/usr/share"],
  ]);
});

test("a hostile name stays within its address", () => {
  const entry = { path: "/a?b&c=#/../x", type: "file" } as Parameters<typeof downloadAddress>[1];
  const address = new URL(downloadAddress("sb_1", entry), "http://x");
  expect([address.pathname, address.searchParams.get("path")]).toEqual(["/v1/sandboxes/sb_1/files", "/a?b&c=#/../x"]);
});

test("a name that came with marks in place of its bytes is none that a call can give", () => {
  const named = (name: string) => isNamable({ name } as Parameters<typeof isNamable>[0]);
  expect(["a", "ä b", "a\u{FFFD}.txt"].map(named)).toEqual([true, true, false]);
});

test("only text is shown as text", () => {
  expect(textOf(new TextEncoder().encode("zwei ✓").buffer)).toEqual({ text: "zwei ✓", lineEnd: "\n" });
  expect(textOf(Uint8Array.of(0xff, 0xfe).buffer)).toBeUndefined();
  expect(textOf(Uint8Array.of(65, 0, 66).buffer)).toBeUndefined();
});

test.each([
  ["a\nb\n", "a\nb\n", "\n"],
  ["a\r\nb\r\n", "a\nb\n", "\r\n"],
  ["a\r\nb\n", "a\nb\n", undefined],
  ["a\rb", "a\nb", undefined],
  ["", "", "\n"],
] as const)("%j is edited with bare line feeds and keeps its own", (content, text, lineEnd) => {
  expect(textOf(new TextEncoder().encode(content).buffer)).toEqual({ text, lineEnd });
});
