import type { Difference, FileFacts } from "@torpor/sdk/calls";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeDifference, escapeName } from "./describe-difference.ts";

const facts: FileFacts = { type: "file", mode: 0o644, uid: 0, gid: 0, size: 1, target: null };

function difference(changed: Partial<Difference>): string {
  return describeDifference({ change: "changed", path: "/a", what: [], before: facts, after: facts, ...changed });
}

test("a line says what is another", () => {
  expect(difference({ change: "added", before: null })).toBe("A /a");
  expect(difference({ change: "removed", after: null, before: { ...facts, type: "directory" } })).toBe("R /a/");
  const after = { ...facts, mode: 0o4755, uid: 1000, gid: 50 };
  expect(difference({ what: ["content", "mode", "owner"], after })).toBe("C /a  (content, mode 644 became 4755, owner 0:0 became 1000:50)");
  expect(difference({ what: ["type"], after: { ...facts, type: "symlink" } })).toBe("C /a  (file became symlink)");
  expect(difference({ change: "unread", before: null, after: null, reason: "too deep" })).toBe("? /a  (too deep)");
});

describe("a name", () => {
  test.each([
    ["plain ä 日本 🦇", "plain ä 日本 🦇"],
    ["a\nR /etc", "a\\x0aR /etc"],
    ["\u001b[2J", "\\x1b[2J"],
    ["back\\slash", "back\\x5cslash"],
    ["gpj\u202eexe", "gpj\\xe2\\x80\\xaeexe"],
  ])("%j is told as %s", (name, told) => {
    expect(escapeName(Buffer.from(name))).toBe(told);
  });

  test("bytes that are no UTF-8 stay apart", () => {
    expect(escapeName(Buffer.from([0x61, 0xff, 0xe2, 0x28, 0xc3]))).toBe("a\\xff\\xe2(\\xc3");
  });

  test("of any bytes can be had back, and has no character that a terminal acts on", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const told = escapeName(bytes);
        expect(told).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        const back = Buffer.concat(
          told.split(/(\\x[0-9a-f]{2})/).map((part, i) => (i % 2 === 0 ? Buffer.from(part) : Buffer.from(part.slice(2), "hex"))),
        );
        expect(Uint8Array.from(back)).toEqual(bytes);
      }),
    );
  });
});
