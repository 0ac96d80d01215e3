import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { targetOf } from "./links.ts";
import { readPage } from "./markdown.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const files = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const pages = new Map(files.map((file) => [file, readPage(readFileSync(join(root, file), "utf8"))]));

test("a link that leads nowhere is seen: to a file, to an anchor, of this page and of another", () => {
  expect(faultOf("gone.md", "docs/concepts.md")).toBe("there is no docs/gone.md");
  expect(faultOf("guides", "docs/concepts.md")).toBe("docs/guides is a directory: end it with /");
  expect(faultOf("#gone", "docs/concepts.md")).toBe("docs/concepts.md has no #gone");
  expect(faultOf("../concepts.md#gone", "docs/guides/wakes.md")).toBe("docs/concepts.md has no #gone");
  expect(faultOf("../concepts.md#wakes", "docs/guides/wakes.md")).toBeUndefined();
});

test.each([...pages])("every link and anchor of %s leads somewhere", (file, { hrefs }) => {
  expect(hrefs.map((href) => [href, faultOf(href, file)]).filter(([, fault]) => fault !== undefined)).toEqual([]);
});

function faultOf(href: string, from: string): string | undefined {
  const target = targetOf(href, from);
  if (target === undefined) return undefined;
  const { file, anchor } = target;
  if (file.startsWith("..") || !existsSync(join(root, file))) return `there is no ${file}`;
  if (statSync(join(root, file)).isDirectory() && !file.endsWith("/")) return `${file} is a directory: end it with /`;
  if (anchor !== undefined && pages.get(file)?.anchors.includes(anchor) !== true) return `${file} has no #${anchor}`;
  return undefined;
}
