import type { Block } from "./blocks.ts";

/** A command of a `console` block, and what is printed after it. */
export interface Shown {
  readonly command: string;
  readonly output: readonly string[];
}

export function shownIn({ text }: Block): Shown[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const words = line.replace(/ {2,}#.*$| +# .*$/, "");
    if (words.startsWith("$ ")) steps.push({ command: words.slice(2), output: [] });
    else steps.at(-1)?.output.push(words);
  }
  return steps;
}

/** Lines like those of a document: `…` stands for anything, numbers and ids are others each time. */
export function likeness(text: string): RegExp {
  const pattern = text
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    .replaceAll(/\b(sb|op|wh|tk|se|wk)_[a-z0-9]+|\d+(?:\.\d+)?|…/g, (word, kind?: string) =>
      word === "…" ? ".*" : kind === undefined ? "\\d+(\\.\\d+)?" : `${kind}_[a-z0-9]+`,
    );
  return new RegExp(`^${pattern}$`, "m");
}
