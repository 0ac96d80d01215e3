import type { Difference } from "@torpor/contract";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Comparison, FileTree } from "../ports/comparison.ts";

/** All trees have one image. */
export interface ComparisonHarness {
  readonly comparison: Comparison;
  readonly image: FileTree;
  /** A disk over the image, with files by their paths; their directories are `/data` and what is there already. */
  tree(files: Readonly<Record<string, string>>): Promise<FileTree>;
  dispose(): Promise<void>;
}

export function comparisonConformance(name: string, make: () => Promise<ComparisonHarness>): void {
  describe(`${name} keeps the contract of a comparison`, () => {
    let harness: ComparisonHarness;
    beforeEach(async () => {
      harness = await make();
    });
    afterEach(() => harness.dispose());

    const files = async (before: FileTree, after: FileTree): Promise<Difference[]> => {
      const found: Difference[] = [];
      for await (const one of harness.comparison.compare(before, after)) if (one.path.startsWith("/data/")) found.push(one);
      return found;
    };

    test("tells what was added, changed and removed, by name, with facts of both", async () => {
      const before = await harness.tree({ "/data/b": "old", "/data/c": "gone", "/data/same": "same" });
      const after = await harness.tree({ "/data/a": "new", "/data/b": "NEW", "/data/same": "same" });
      const file = { type: "file", size: 3 };
      expect(await files(before, after)).toMatchObject([
        { change: "added", path: "/data/a", before: null, after: file },
        { change: "changed", path: "/data/b", what: ["content"], before: file, after: file },
        { change: "removed", path: "/data/c", before: { type: "file", size: 4 }, after: null },
      ]);
      expect((await files(after, before)).map(({ change, path }) => `${change} ${path}`)).toEqual([
        "removed /data/a",
        "changed /data/b",
        "added /data/c",
      ]);
    });

    test("tells nothing of a tree and itself, and everything of a disk and its image", async () => {
      const tree = await harness.tree({ "/data/a": "a" });
      expect(await files(tree, tree)).toEqual([]);
      expect(await files(harness.image, harness.image)).toEqual([]);
      expect(await files(harness.image, tree)).toMatchObject([{ change: "added", path: "/data/a" }]);
    });

    test("says that a disk is missing", async () => {
      const { disk = "" } = await harness.tree({});
      const gone = { ...harness.image, disk: `${disk}-gone` };
      await expect(files(harness.image, gone)).rejects.toMatchObject({ code: "storage_failed", details: { missing: "disk" } });
    });

    test("ends when it is told to, and when nobody asks for more", async () => {
      const tree = await harness.tree({ "/data/a": "a", "/data/b": "b" });
      await expect(harness.comparison.compare(harness.image, tree, AbortSignal.abort())[Symbol.asyncIterator]().next()).rejects.toThrow();
      for await (const { path } of harness.comparison.compare(harness.image, tree)) if (path === "/data/a") break;
      expect(await files(harness.image, tree)).toHaveLength(2);
    });
  });
}
