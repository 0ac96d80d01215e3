import type { LabelChanges } from "@torpor/contract";

type Labels = Readonly<Record<string, string>>;

/** What changes make of labels: null takes one away, those that are not named stay. */
export function changedLabels(labels: Labels, changes: LabelChanges = {}): Record<string, string> {
  const next = Object.entries({ ...labels, ...changes }).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return Object.fromEntries(next);
}
