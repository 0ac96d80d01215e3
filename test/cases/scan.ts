import { extname } from "node:path";
import type { FoundTest } from "./found-test.ts";

/** Finds the case ids in the names of the tests of one source file. Ids that no case has are left out: `S3` or `H264` are words. */
export function scan(file: string, source: string, ids: ReadonlySet<string>): FoundTest[] {
  const names = (namesBy[extname(file)] ?? typescriptNames)(source);
  return names.flatMap((name) => idsIn(name, ids).map((id) => ({ id, file, name })));
}

/** `TestP01…`, `TestJournal_E01`, `test_A03_…` and plain text; a digit or a letter before or after makes it another word. */
export function idsIn(name: string, ids: ReadonlySet<string>): string[] {
  const words = [...name.matchAll(/(?<=^Test|_|\b)[A-Z]\d{2}(?![0-9a-z])/g)].map(([word]) => word);
  return [...new Set(words)].filter((word) => ids.has(word));
}

const namesBy: Readonly<Record<string, (source: string) => string[]>> = { ".go": goNames, ".py": pythonNames };

function typescriptNames(source: string): string[] {
  // test("…"), it.concurrent("…"), describe.each([…])("…"), scenario titles in tables: { title: "…" }
  const calls = /\b(?:test|it|describe|suite)(?:\.\w+)*(?:\([^()]*\))?\(\s*(["'`])((?:\\.|(?!\1).)*)\1/gs;
  // A table that has calls of its own, over several lines: its end, and then the name.
  const tables = /^\s*\](?: as const)?\)\(\s*(["'`])((?:\\.|(?!\1).)*)\1/gm;
  const titles = /\btitle:\s*(["'`])((?:\\.|(?!\1).)*)\1/gs;
  return [...source.matchAll(calls), ...source.matchAll(tables), ...source.matchAll(titles)].map((match) => match[2] ?? "");
}

function goNames(source: string): string[] {
  const functions = [...source.matchAll(/^func (Test\w+)\(/gm)].map((match) => match[1] ?? "");
  const groups = [...source.matchAll(/\.Run\("((?:\\.|[^"\\])*)"/g)].map((match) => match[1] ?? "");
  return [...functions, ...groups];
}

function pythonNames(source: string): string[] {
  return [...source.matchAll(/^(?:async )?def (test_\w+)\(/gm)].map((match) => match[1] ?? "");
}
