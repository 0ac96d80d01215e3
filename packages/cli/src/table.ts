import { oneLine } from "./failure.ts";

/** The narrowest that a column is cut to. */
const narrowest = 8;

/** Rows in columns as wide as their widest cell; on a terminal the widest are cut so that a row is a line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], width = terminalWidth()): string {
  const all = [head, ...rows.map((row) => row.map(oneLine))];
  const widths = fitted(
    head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length))),
    width,
  );
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** None when it goes elsewhere: what reads it there needs it whole. */
function terminalWidth(): number | undefined {
  return process.stdout.isTTY === true ? process.stdout.columns : undefined;
}

function fitted(widths: readonly number[], width: number | undefined): readonly number[] {
  const narrowed = [...widths];
  const between = 2 * (widths.length - 1);
  while (width !== undefined && narrowed.reduce((total, one) => total + one, between) > width) {
    const widest = narrowed.indexOf(Math.max(...narrowed));
    if ((narrowed[widest] ?? 0) <= narrowest) break;
    narrowed[widest] = (narrowed[widest] ?? 0) - 1;
  }
  return narrowed;
}

function cut(cell: string, width: number): string {
  return cell.length <= width ? cell : `${cell.slice(0, width - 1)}…`;
}
