import type { Sandbox, SandboxState } from "@torpor/contract";

export interface Filter {
  /** Words: each is part of the name, image or id, or a label as `name=value` or `name`. */
  readonly text: string;
  readonly state: SandboxState | "any";
}

export function matches(sandbox: Sandbox, { text, state }: Filter): boolean {
  if (state !== "any" && sandbox.state !== state) return false;
  return text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => says(sandbox, word));
}

function says({ name, id, image, labels }: Sandbox, word: string): boolean {
  return [name, id, image.reference, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)].some((text) =>
    text.toLowerCase().includes(word),
  );
}
