import { InvalidArgumentError } from "commander";
import { addLabel } from "./pair.ts";

export type LabelChanges = Readonly<Record<string, string | null>>;

/** Gathers `NAME=VALUE`, and `NAME-`, which takes the label away. */
export function addLabelChange(text: string, earlier: LabelChanges = {}): LabelChanges {
  if (text.includes("=")) return { ...earlier, ...addLabel(text) };
  if (!/^.+-$/.test(text)) throw new InvalidArgumentError(`${JSON.stringify(text)} is no change of a label: write NAME=VALUE or NAME-.`);
  return { ...earlier, [text.slice(0, -1)]: null };
}
