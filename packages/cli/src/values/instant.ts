import { InvalidArgumentError } from "commander";

/** An instant as ISO 8601 has it; without a zone it is this machine's. */
export function parseInstant(text: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(`${JSON.stringify(text)} is no time: write it like 2026-12-01T09:00 or 2026-12-01T09:00:00Z.`);
  return new Date(ms).toISOString();
}
