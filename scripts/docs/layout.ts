import { relative } from "node:path/posix";
import { contents } from "./contents.ts";
import { htmlNameOf } from "./links.ts";
import { escapeHtml } from "./markdown.ts";

export interface LayoutOptions {
  /** Its address, from docs/ on. */
  readonly name: string;
  readonly title: string;
  readonly body: string;
  /** Of each page of the contents. */
  readonly titles: ReadonlyMap<string, string>;
}

/** A whole page. All its addresses are relative, so it also works from a directory, without any server. */
export function layOut({ name, title, body, titles }: LayoutOptions): string {
  const to = (target: string) => escapeHtml(relative(`/${name}/..`, `/${target}`));
  const items = (pages: readonly string[]) =>
    pages
      .map((page) => {
        const current = htmlNameOf(page) === name ? ' aria-current="page"' : "";
        return `<li><a href="${to(htmlNameOf(page))}"${current}>${escapeHtml(titles.get(page) ?? page)}</a></li>`;
      })
      .join("");
  const list = contents.map((section) => `<h2>${escapeHtml(section.title)}</h2><ul>${items(section.pages)}</ul>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name === "index.html" ? "Torpor" : `${escapeHtml(title)} · Torpor`}</title>
<link rel="icon" type="image/svg+xml" href="${to("eye.svg")}">
<link rel="stylesheet" href="${to("site.css")}">
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header><a class="brand" href="${to("index.html")}"><img src="${to("eye.svg")}" alt="" width="28" height="28">Torpor</a></header>
<nav aria-label="All pages"><details><summary>All pages</summary>${list}</details><div class="side">${list}</div></nav>
<main id="content">
${body}</main>
</body>
</html>
`;
}
