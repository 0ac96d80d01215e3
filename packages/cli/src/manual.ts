/** A manual page (roff) of the Markdown of the reference: its headings, tables, blocks and paragraphs, which is all that it has. */
export function renderManual(reference: string): string {
  const parts = reference.split(/^(```sh\n[\s\S]*?```)$/m);
  const body = parts.map((part, at) =>
    at % 2 === 1
      ? exampleOf(part)
      : part
          .split(/\n{2,}/)
          .map(paragraphOf)
          .join(""),
  );
  return `.TH TORPOR 1\n.SH NAME\ntorpor \\- sandboxes that pause, resume and fork with their memory\n${body.join("")}`;
}

function exampleOf(block: string): string {
  const lines = block
    .split("\n")
    .slice(1, -1)
    .filter((line) => line !== "");
  return `.PP\n.EX\n${lines.map(lineOf).join("\n")}\n.EE\n`;
}

function paragraphOf(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.startsWith("<!--")) return "";
  if (trimmed.startsWith("# ")) return ".SH SYNOPSIS\n";
  if (trimmed.startsWith("## ")) return `.SH ${lineOf(trimmed.slice(3).toUpperCase())}\n`;
  if (trimmed.startsWith("|")) return trimmed.split("\n").map(rowOf).join("");
  return `.PP\n${trimmed.split("\n").map(lineOf).join("\n")}\n`;
}

/** The first cell is what is told of; a rule, and the empty head of a table, are nothing. */
function rowOf(row: string): string {
  const [term = "", text = ""] = row
    .replace(/^\| *| *\|$/g, "")
    .split(/ *(?<!\\)\| */)
    .map((cell) => cell.replaceAll("\\|", "|"));
  return /^-*$/.test(term) ? "" : `.TP\n${lineOf(term)}\n${lineOf(text)}\n`;
}

/** A line of text: no request, though it begins like one; code in bold; of links the words. */
function lineOf(text: string): string {
  const plain = text
    .replaceAll("…", "...")
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-");
  return plain.replaceAll(/`([^`]+)`/g, "\\fB$1\\fR").replace(/^(?=[.'])/, "\\&");
}
