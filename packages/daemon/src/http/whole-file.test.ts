import { text } from "node:stream/consumers";
import { type Entry, TorporError } from "@torpor/contract";
import { expect, test } from "vitest";
import { wholeFile } from "./whole-file.ts";

const entry = (size: number): Entry => ({
  path: "/log",
  name: "log",
  type: "file",
  size,
  mode: 0o644,
  uid: 0,
  gid: 0,
  owner: "root",
  group: "root",
  modifiedAt: "2026-01-01T00:00:00.000Z",
  symlinkTarget: null,
});

/** Chunks for ever, as of a file that grows as fast as it is read; tells when nobody takes them any more. */
async function* growing(onEnd: () => void): AsyncGenerator<Uint8Array> {
  try {
    for (;;) yield Buffer.from("abc");
  } finally {
    onEnd();
  }
}

async function* once(content: string): AsyncGenerator<Uint8Array> {
  if (content !== "") yield Buffer.from(content);
}

const read = ({ content }: { content: AsyncIterable<Uint8Array> }) => text(content);

test.each([1, 3, 4, 7])("a file that grows ends after the %i bytes that it had", async (size) => {
  let ended = false;
  const whole = wholeFile(
    entry(size),
    growing(() => {
      ended = true;
    }),
  );
  expect(whole.length).toBe(size);
  expect(await read(whole)).toBe("abcabcabc".slice(0, size));
  expect(ended).toBe(true);
});

test("a file without a size is read to its end, and no length is told", async () => {
  for (const content of ["", "MemTotal: 1 kB"]) {
    const whole = wholeFile(entry(0), once(content));
    expect(whole).not.toHaveProperty("length");
    expect(await read(whole)).toBe(content);
  }
});

test("a file that was made shorter fails, with the bytes that are missing", async () => {
  await expect(read(wholeFile(entry(5), once("abc")))).rejects.toThrow(TorporError);
  await expect(read(wholeFile(entry(5), once("abc")))).rejects.toThrow("/log was made shorter while it was read: 2 of 5 bytes are missing");
});
