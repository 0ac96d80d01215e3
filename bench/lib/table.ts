import type { BenchmarkResult } from "./benchmark.ts";

const columns = ["name", "value", "floor", "ratio", "bound", "pass"];

export function table(rows: readonly BenchmarkResult[]): string {
  const cells = [columns, ...rows.map(cellsOf)];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  return cells.map((row) => row.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join("  ")).join("\n");
}

function cellsOf({ name, value, floor, ratio, bound, pass, unit }: BenchmarkResult): string[] {
  return [name, `${figure(value)} ${unit}`, `${figure(floor)} ${unit}`, ratio.toFixed(2), bound.toFixed(2), pass ? "yes" : "NO"];
}

/** Three digits that mean something. */
function figure(number: number): string {
  return Number.isNaN(number) ? "-" : number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
