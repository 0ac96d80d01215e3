import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path/posix";
import { gzipSync } from "node:zlib";
import { contents } from "./contents.ts";
import { layOut } from "./layout.ts";
import { htmlNameOf, targetOf } from "./links.ts";
import { readPage, renderPage } from "./markdown.ts";

export interface Site {
  readonly root: string;
  readonly into: string;
}

/** Builds docs/ to static HTML; gives the names of its pages, from docs/ on. */
export async function buildSite({ root, into }: Site): Promise<string[]> {
  const pages = await readPages(root);
  const titles = new Map([...pages].map(([name, markdown]) => [name, readPage(markdown).title]));
  for (const [name, markdown] of pages) {
    const html = htmlNameOf(name);
    const body = renderPage(markdown, (href) => addressOf(href, name, pages));
    await write(join(into, html), layOut({ name: html, title: titles.get(name) ?? name, body, titles }));
  }
  await cp(join(root, "docs/images"), join(into, "images"), { recursive: true });
  await cp(join(root, "packages/web/public/eye.svg"), join(into, "eye.svg"));
  await write(join(into, "site.css"), await readFile(join(root, "scripts/docs/site.css"), "utf8"));
  return [...pages.keys()].map(htmlNameOf);
}

/** By their paths below docs/. The list of decisions is made here. */
async function readPages(root: string): Promise<Map<string, string>> {
  const names = (await readdir(join(root, "docs"), { recursive: true })).filter((name) => name.endsWith(".md")).sort();
  const pages = new Map<string, string>();
  for (const name of names) pages.set(name, await readFile(join(root, "docs", name), "utf8"));
  const decisions = names.filter((name) => name.startsWith("decisions/"));
  const lines = decisions.map((name) => `- [${readPage(pages.get(name) ?? "").title}](${name.slice("decisions/".length)})`);
  pages.set("decisions/index.md", `# Decisions\n\nWhat somebody may want to undo, and why it is as it is.\n\n${lines.join("\n")}\n`);
  const missing = contents.flatMap(({ pages: listed }) => listed).filter((page) => !pages.has(page));
  if (missing.length > 0) throw new Error(`scripts/docs/contents.ts lists ${missing.join(", ")}, which docs/ has not`);
  return pages;
}

/** Sources are not on the site: links to them keep their words only. */
function addressOf(href: string, page: string, pages: ReadonlyMap<string, string>): string | undefined {
  const target = targetOf(href, `docs/${page}`);
  if (target === undefined) return /^https?:/.test(href) ? href : undefined;
  const anchor = target.anchor === undefined ? "" : `#${target.anchor}`;
  if (target.file === "api/openapi.json") return "/v1/openapi.json";
  if (!target.file.startsWith("docs/")) return undefined;
  const name = target.file.slice("docs/".length);
  const there = name === "decisions/" ? "decisions/index.md" : name;
  if (!pages.has(there) && !there.startsWith("images/")) return undefined;
  return `${relative(dirname(`/${page}`), `/${htmlNameOf(there)}`)}${anchor}`;
}

/** With a packed copy beside it, for the daemon to hand out. */
async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await writeFile(`${path}.gz`, gzipSync(text, { level: 9 }));
}
