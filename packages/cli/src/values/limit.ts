import { InvalidArgumentError } from "commander";

/** What the parser takes, or `none`. Not null: for commander that is an option without a value. */
export function parseLimit(parse: (text: string) => number): (text: string) => number | "none" {
  return (text) => (text === "none" ? "none" : parse(text));
}

/** A number of 0 or more, fractions allowed. */
export function parsePrice(text: string): number {
  if (!/^\d{1,9}(\.\d{1,12})?$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no number of 0 or more.`);
  return Number(text);
}
