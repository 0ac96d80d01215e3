import { InvalidArgumentError } from "commander";
import { oneLine } from "./failure.ts";

/**
 * A line for a record: `{field}` and `{field.inner}` stand for their values, `\t` and `\n` for a tab and a line end, `{{` and `}}` for braces.
 * Not more: who needs conditions has `--json` and jq.
 */
export function parseTemplate(text: string): (record: unknown) => string {
  const left = text.replaceAll(/\{\{|\}\}|\{[A-Za-z_][\w.-]*\}/g, "");
  if (/[{}]/.test(left)) throw new InvalidArgumentError(`${JSON.stringify(text)} has a brace that belongs to no {field}.`);
  return (record) =>
    text.replaceAll(/\{\{|\}\}|\{([A-Za-z_][\w.-]*)\}|\\[tn]/g, (found, path?: string) =>
      path === undefined ? (literals[found] as string) : textOf(record, path),
    );
}

const literals: Readonly<Record<string, string>> = { "{{": "{", "}}": "}", "\\t": "\t", "\\n": "\n" };

/** A label's name may have dots: the longest name that is there counts. */
function textOf(record: unknown, path: string): string {
  const value = valueAt(record, path.split("."));
  if (value === undefined || value === null) return "";
  return oneLine(typeof value === "string" ? value : JSON.stringify(value));
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0 || typeof value !== "object" || value === null) return names.length === 0 ? value : undefined;
  for (let count = names.length; count > 0; count--) {
    const name = names.slice(0, count).join(".");
    if (Object.hasOwn(value, name)) return valueAt((value as Record<string, unknown>)[name], names.slice(count));
  }
  return undefined;
}
