import type { SessionEnd } from "@torpor/contract";
import { expect, test } from "vitest";
import { endSentence, endWords } from "./end-words.ts";

test.each([
  [{ exitCode: 3 }, "Its process exited with code 3.", "code 3"],
  [{ exitCode: 143, signal: "SIGTERM" }, "Its process was ended by SIGTERM.", "SIGTERM"],
  [{ reason: "oom", exitCode: 137, oom: true }, /^Its process outgrew/, "it outgrew the memory"],
  [{ reason: "timeout", exitCode: 143, signal: "SIGTERM" }, "Its time limit was over.", "SIGTERM"],
  // However its process took the stop.
  [{ reason: "stopped", exitCode: 0 }, /^It ended with the sandbox, which was stopped/, "with the sandbox"],
  [{ reason: "stopped", exitCode: 143, signal: "SIGTERM" }, /^It ended with the sandbox, which was stopped/, "with the sandbox"],
  [{ reason: "lost" }, /^The sandbox's runtime ended/, "code ?"],
] as const)("an end %o has its words", (given, sentence, words) => {
  const end: SessionEnd = { reason: "exited", exitCode: null, signal: null, oom: false, ...given };
  expect(endSentence(end)).toMatch(sentence);
  expect(endWords(end)).toBe(words);
});
