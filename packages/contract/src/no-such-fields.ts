import { nearest } from "./nearest.ts";

// Without zod: clients say the same before they send anything.

/** Of unknown fields, each with the one that was probably meant. */
export function noSuchFields(keys: readonly string[], known: readonly string[]): string {
  return keys.map((key) => noSuchField(key, known)).join(", ");
}

function noSuchField(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `there is no ${JSON.stringify(key)}${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`;
}
