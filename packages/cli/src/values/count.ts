import { InvalidArgumentError } from "commander";

/** A whole number of 1 or more. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no whole number of 1 or more.`);
  return Number(text);
}

/** A number over 0, fractions allowed. */
export function parseAmount(text: string): number {
  const value = Number(text);
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text) || value <= 0) throw new InvalidArgumentError(`${JSON.stringify(text)} is no number over 0.`);
  return value;
}
