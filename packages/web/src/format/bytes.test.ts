import { expect, test } from "vitest";
import { formatBytes, parseBytes } from "./bytes.ts";

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 KiB"],
  [5_872_026, "5.6 MiB"],
  [104_857_600, "100 MiB"],
  [1_072_693_248, "1.0 GiB"],
])("%d bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  ["512MiB", 536_870_912],
  ["512 MB", 536_870_912],
  ["1.5g", 1_610_612_736],
  ["4096", 4096],
  ["much", undefined],
  ["-1g", undefined],
])("%s is read as %s", (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});
