import type { OperationAnswer } from "@torpor/sdk";
import { TorporError } from "@torpor/sdk";
import { failWith } from "./failure.ts";
import { print, printJson } from "./leave.ts";

export interface Several {
  readonly json?: boolean;
}

/** Does the same to each sandbox, goes on past failures, and tells of them last. */
export async function forEach<T>(ids: readonly string[], { json }: Several, work: (id: string) => Promise<T>): Promise<number> {
  const outcomes: unknown[] = [];
  const failures: unknown[] = [];
  for (const id of ids) {
    try {
      outcomes.push(await work(id));
      if (json !== true) await print(`${id}\n`);
    } catch (error) {
      failures.push(error);
      outcomes.push({
        id,
        error: error instanceof TorporError ? { code: error.code, message: error.message } : { code: "internal", message: String(error) },
      });
    }
  }
  if (json === true && ids.length > 1) await printJson(outcomes);
  else if (json === true && failures.length === 0) await printJson(outcomes[0]);
  for (const failure of failures) failWith(failure);
  return failures.length === 0 ? 0 : 1;
}

export function resultOf(answer: { operation: OperationAnswer["operation"] | null }): Readonly<Record<string, unknown>> {
  return answer.operation?.result ?? {};
}
