import { dirname, join, normalize } from "node:path/posix";

export interface Target {
  /** From the repository's root; a directory ends in a slash. */
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Where a link of a file of this repository leads; undefined: to another site. */
export function targetOf(href: string, from: string): Target | undefined {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return undefined;
  const [path = "", anchor] = href.split("#", 2);
  return { file: path === "" ? from : normalize(join(dirname(from), decodeURIComponent(path))), anchor };
}

/** The address of a page of the site, from docs/ on. */
export function htmlNameOf(markdown: string): string {
  return markdown.replace(/\.md$/, ".html");
}
