import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A fenced block of a document. */
export interface Block {
  readonly document: string;
  readonly language: string;
  /** Of its first line. */
  readonly line: number;
  readonly text: string;
}

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Which test has the blocks of a document in a language; a list: of each by itself, in their order. A document's name may have a `*`. */
type Runners = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;

export const runners = JSON.parse(readFileSync(new URL("runners.json", import.meta.url), "utf8")) as Runners;

/** All Markdown of this repository, but the texts of what it depends on. */
export function documents(): string[] {
  const exclude = ["**/node_modules/**", "**/.tools/**", "**/dist/**", ".*/**"];
  return globSync("**/*.md", { cwd: root, exclude }).sort();
}

export function blocksOf(document: string): Block[] {
  const lines = readFileSync(path.join(root, document), "utf8").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence = "", language = ""] = /^( *)(```+|~~~+)(.*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === "") continue;
    const end = lines.findIndex((line, place) => place > at && line.trim() === fence);
    if (end < 0) throw new Error(`the block in line ${at + 1} of ${document} has no end`);
    const text = lines.slice(at + 1, end).map((line) => `${line.slice(indent.length)}\n`);
    blocks.push({ document, language: language.trim(), line: at + 2, text: text.join("") });
    at = end;
  }
  return blocks;
}

/** The test that has a block; undefined: none. */
export function runnerOf(block: Block, all: readonly Block[]): string | undefined {
  const named = Object.keys(runners).find((name) => path.matchesGlob(block.document, name)) ?? "";
  const runner = runners[named]?.[block.language];
  if (!Array.isArray(runner)) return runner as string | undefined;
  return runner[all.filter(({ language }) => language === block.language).indexOf(block)];
}

/** What a test has to run, by the table: `blocksFor(import.meta.url)`. */
export function blocksFor(url: string): Block[] {
  const test = path.relative(root, fileURLToPath(url));
  return documents().flatMap((document) => {
    const all = blocksOf(document);
    return all.filter((block) => runnerOf(block, all) === test);
  });
}
