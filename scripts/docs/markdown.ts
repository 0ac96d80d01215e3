import GithubSlugger from "github-slugger";
import { Marked, type Token, type Tokens } from "marked";

/** A page as it is read; anchors are those that GitHub gives to its headings. */
export interface Page {
  readonly title: string;
  readonly anchors: readonly string[];
  readonly hrefs: readonly string[];
}

export function readPage(markdown: string): Page {
  const slugger = new GithubSlugger();
  const headings: Tokens.Heading[] = [];
  const hrefs: string[] = [];
  const marked = new Marked();
  // What it gives is for callbacks that wait; these do not.
  void marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type === "heading") headings.push(token as Tokens.Heading);
    if (token.type === "link" || token.type === "image") hrefs.push((token as Tokens.Link).href);
  });
  return {
    title: headings[0] === undefined ? "" : plain(headings[0].tokens),
    anchors: headings.map(({ tokens }) => slugger.slug(plain(tokens))),
    hrefs,
  };
}

/** The body as HTML. `address` says what a link becomes; undefined leaves its words alone. HTML in the text is shown as it was typed. */
export function renderPage(markdown: string, address: (href: string) => string | undefined): string {
  const slugger = new GithubSlugger();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const id = escapeHtml(slugger.slug(plain(tokens)));
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}<a class="here" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, title, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = address(href);
        const more = title ? ` title="${escapeHtml(title)}"` : "";
        if (to === undefined) return more === "" ? words : `<span${more}>${words}</span>`;
        return `<a href="${escapeHtml(to)}"${more}>${words}</a>`;
      },
      image({ href, text }) {
        const from = address(href);
        return from === undefined ? escapeHtml(text) : `<img src="${escapeHtml(from)}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      // What is wide scrolls by itself, and with the keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`,
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: "th" | "td") =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const head = token.header.some(({ text }) => text !== "") ? `<thead>${row(token.header, "th")}</thead>` : "";
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${token.rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`;
      },
      html: ({ text }) => (text.startsWith("<!--") ? "" : escapeHtml(text)),
    },
  });
  return marked.parse(markdown, { async: false });
}

/** The words of a heading without their marks, as GitHub takes them for its anchor. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token) => ("tokens" in token && token.tokens !== undefined ? plain(token.tokens) : "text" in token ? String(token.text) : ""))
    .join("");
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
