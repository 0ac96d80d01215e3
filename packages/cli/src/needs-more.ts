const opening = "([{";
const closing = ")]}";

/** Whether what was typed of a Python program is not whole yet. An empty line ends a block. */
export function needsMore(code: string): boolean {
  const { depth, quote } = scan(code);
  if (depth > 0 || quote !== "") return true;
  const lines = code.split("\n").slice(0, -1);
  const last = lines.at(-1) ?? "";
  if (last.endsWith("\\")) return true;
  const inBlock = lines.some((line) => line.trimEnd().endsWith(":") || line.startsWith("@"));
  return inBlock && last.trim() !== "";
}

/** Open brackets at the end, and the quotes of a long text that is open there. */
function scan(code: string): { depth: number; quote: string } {
  let depth = 0;
  const token = /"""|'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*|[()[\]{}]/g;
  for (let match = token.exec(code); match !== null; match = token.exec(code)) {
    const [text] = match;
    if (text === '"""' || text === "'''") {
      const end = code.indexOf(text, token.lastIndex);
      if (end < 0) return { depth, quote: text };
      token.lastIndex = end + text.length;
    } else if (opening.includes(text)) depth++;
    else if (closing.includes(text)) depth--;
  }
  return { depth, quote: "" };
}
