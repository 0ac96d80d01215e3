import { type OperationAnswer, TorporError } from "@torpor/sdk/calls";
import { failWith } from "./failure.ts";
import { print, printJson } from "./leave.ts";

export interface Several {
  readonly json?: boolean;
}

/** For the commands that do something to several. */
export const jsonOption = ["--json", "print the outcome as JSON"] as const;

interface Outcome {
  readonly id: string;
  readonly value: unknown;
  readonly failure?: unknown;
}

/** Does the same to each sandbox, goes on past failures, and tells of them last. Of one that is done its name is printed, or what `line` makes of it. */
export async function forEach<T>(
  ids: readonly string[],
  { json }: Several,
  work: (id: string) => Promise<T>,
  line: (value: T, id: string) => string = (_value, id) => id,
): Promise<number> {
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    const outcome = await attempt(id, work);
    outcomes.push(outcome);
    if (json !== true && !("failure" in outcome)) await print(`${line(outcome.value as T, id)}\n`);
  }
  const failures = outcomes.filter((outcome) => "failure" in outcome);
  if (json === true) await printOutcomes(outcomes, failures.length);
  for (const { failure } of failures) failWith(failure);
  return failures.length === 0 ? 0 : 1;
}

export function resultOf({ operation }: OperationAnswer): Readonly<Record<string, unknown>> {
  return operation.result;
}

/** One record, or of several a list. */
export async function printRecords(ids: readonly string[], get: (id: string) => Promise<unknown>): Promise<undefined> {
  const records = await Promise.all(ids.map(get));
  await printJson(ids.length === 1 ? records[0] : records);
  return undefined;
}

async function attempt(id: string, work: (id: string) => Promise<unknown>): Promise<Outcome> {
  try {
    return { id, value: await work(id) };
  } catch (failure) {
    const { code, message } = failure instanceof TorporError ? failure : { code: "internal", message: String(failure) };
    return { id, value: { id, error: { code, message } }, failure };
  }
}

/** One value or nothing: of several sandboxes a list in which each has its outcome. */
async function printOutcomes(outcomes: readonly Outcome[], failures: number): Promise<void> {
  const values = outcomes.map(({ id, value }) => value ?? { id });
  if (values.length > 1) await printJson(values);
  else if (failures === 0) await printJson(values[0]);
}
