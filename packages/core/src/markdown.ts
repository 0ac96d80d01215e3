export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function meanings(words: Readonly<Record<string, string>>): string {
  return Object.entries(words)
    .map(([word, meaning]) => `- *${word}*: ${meaning}.`)
    .join("\n");
}
