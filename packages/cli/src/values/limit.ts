import { InvalidArgumentError } from "commander";

/** What the parser takes, or `none`: null. */
export function parseLimit(parse: (text: string) => number): (text: string) => number | null {
  return (text) => (text === "none" ? null : parse(text));
}

/** A number of 0 or more, fractions allowed. */
export function parsePrice(text: string): number {
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no number of 0 or more.`);
  return Number(text);
}
