import { existsSync, globSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contents } from "./contents.ts";
import { renderPage } from "./markdown.ts";
import { buildSite } from "./site.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const into = mkdtempSync(join(tmpdir(), "torpor-docs-"));
let names: string[];
beforeAll(async () => {
  names = await buildSite({ root, into });
});
afterAll(() => rm(into, { recursive: true }));

const read = (name: string) => readFileSync(join(into, name), "utf8");
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? "");

test("every document is a page, and every one but the decisions is in the list", () => {
  const documents = globSync("**/*.md", { cwd: join(root, "docs") }).map((name) => name.replace(/\.md$/, ".html"));
  expect([...names].sort()).toEqual([...documents, "decisions/index.html"].sort());
  const listed = contents.flatMap(({ pages }) => pages);
  const unlisted = documents.filter((name) => !name.startsWith("decisions/") && !listed.includes(name.replace(/\.html$/, ".md")));
  expect(unlisted).toEqual([]);
});

test("every address of every page is of a file or an anchor that is there", () => {
  const broken: string[] = [];
  for (const name of names) {
    for (const address of all(read(name), /(?:href|src)="([^"]*)"/g)) {
      if (/^https?:|^\/v1\/openapi\.json$/.test(address)) continue;
      const [path = "", anchor] = address.split("#", 2);
      const file = path === "" ? name : join(dirname(name), path);
      const there = !path.startsWith("/") && existsSync(join(into, file));
      if (!there || (anchor !== undefined && !read(file).includes(` id="${anchor}"`))) broken.push(`${name}: ${address}`);
    }
  }
  expect(broken).toEqual([]);
});

test("nothing on a page needs a script, a style of its own or another host", () => {
  for (const name of names) {
    const html = read(name);
    expect(all(html, /(<script|<style|<iframe| style="| on\w+=")/g), name).toEqual([]);
    expect(all(html, /(?:src="|<link [^>]*href=")(https?:|\/\/)/g), name).toEqual([]);
    expect(existsSync(join(into, `${name}.gz`)), name).toBe(true);
  }
});

test("HTML in the text is shown as it was typed, links to sources keep their words and titles, and those between pages are rewritten", () => {
  const html = renderPage(
    '# A `<b>` & "c"\n\n<img src=x onerror=y> [one](a.md) [two](../x.ts) [three](../y.ts "its name") [bad](javascript:y)\n',
    (href) => (href === "a.md" ? "a.html" : undefined),
  );
  expect(html).toContain('<h1 id="a-b--c">');
  expect(html).toContain("&lt;img src=x onerror=y&gt;");
  expect(html).toContain('<a href="a.html">one</a> two <span title="its name">three</span> bad');
  expect(read("guides/wakes.html")).toContain('<a href="../concepts.html#wakes">what a wake is</a>');
  expect(read("concepts.html")).toContain("Over WebSockets the frames");
});
