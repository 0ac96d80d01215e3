import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { blocksOf, documents, root, runnerOf, runners } from "./blocks.ts";

const withBlocks = documents()
  .map((document) => ({ document, blocks: blocksOf(document) }))
  .filter(({ blocks }) => blocks.length > 0);

test.each(withBlocks)("each block of $document is run by a test that runners.json names", ({ blocks }) => {
  const idle = blocks.filter((block) => !takesBlocks(runnerOf(block, blocks)));
  expect(idle.map(({ document, line, language }) => `${document}:${line} ${language}`)).toEqual([]);
});

test("runners.json names nothing that is gone", () => {
  const gone = Object.entries(runners).flatMap(([name, languages]) =>
    Object.entries(languages)
      .filter(([language, runner]) => {
        const blocks = withBlocks.filter(({ document }) => path.matchesGlob(document, name)).flatMap((each) => each.blocks);
        const count = blocks.filter((block) => block.language === language).length;
        return Array.isArray(runner) ? runner.length !== count : count === 0;
      })
      .map(([language]) => `${name} ${language}`),
  );
  expect(gone).toEqual([]);
});

/** Every test takes its blocks from the table, so that what stands there is run. */
function takesBlocks(test: string | undefined): boolean {
  const file = path.join(root, test ?? "");
  return test !== undefined && existsSync(file) && /blocksFor\(import\.meta\.url|blocks_for\(__file__/.test(readFileSync(file, "utf8"));
}
