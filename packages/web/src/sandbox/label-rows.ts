import type { LabelChanges, Sandbox } from "@torpor/contract";

type Labels = Sandbox["labels"];

/** A label as it stands in the form; without a name it is one that is not written yet. */
export interface LabelRow {
  readonly name: string;
  readonly value: string;
}

const longestName = 63;
const longestValue = 255;

export const rowsOf = (labels: Labels): LabelRow[] => Object.entries(labels).map(([name, value]) => ({ name, value }));

/** What is to be asked for, that labels become as the rows say. Those that others have set since stay. */
export function changesOf(before: Labels, rows: readonly LabelRow[]): LabelChanges {
  const wanted = new Map(rows.filter(({ name }) => name !== "").map(({ name, value }) => [name, value]));
  const gone = Object.keys(before).filter((name) => !wanted.has(name));
  const set = [...wanted].filter(([name, value]) => before[name] !== value);
  return Object.fromEntries<string | null>([...gone.map((name) => [name, null] as const), ...set]);
}

/** What is wrong with a row; undefined: nothing. */
export function objectionTo(rows: readonly LabelRow[], at: number): string | undefined {
  const row = rows[at];
  if (row === undefined) return undefined;
  const { name, value } = row;
  if (name === "") return value === "" ? undefined : "It needs a name.";
  if (name.length > longestName) return `A name has at most ${longestName} characters.`;
  if (value.length > longestValue) return `A value has at most ${longestValue} characters.`;
  return rows.findIndex((one) => one.name === name) < at ? `There is a label ${name} already.` : undefined;
}
