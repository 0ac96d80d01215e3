import { type Operation, TorporError } from "@torpor/contract";
import type { Asking } from "./asking.ts";
import type { Desk } from "./desk.ts";
import { isCancelable } from "./operations/procedures.ts";
import type { OperationRecord } from "./ports/store.ts";

/** Tells an operation to give up. What it did is undone; it then ends as failed with `operation_cancelled`. */
export async function cancel({ ports, runner }: Desk, id: string): Promise<Asking> {
  const operation = await ports.store.findOperation(id);
  if (operation === undefined) throw new TorporError("operation_not_found", `there is no operation ${id}`);
  const ended = runner.ended(id);
  if (ended === undefined || !isCancelable(operation)) throw tooLate(operation);
  runner.cancel(id, "request");
  return { sandboxId: operation.sandboxId, operation, ended };
}

/** Its commit point may have come between the call and its next look at it. */
export function checkCancelled({ status, id, kind, phase }: Operation): void {
  if (status === "succeeded") throw tooLate({ status, id, kind, phase });
}

function tooLate({ status, id, kind, phase }: Pick<OperationRecord, "status" | "id" | "kind" | "phase">): TorporError {
  const why = status === "running" ? `is in phase ${phase} and can only go forward` : `has ${status} already`;
  const hint = status === "running" ? `GET /v1/operations/${id} tells when it has ended` : undefined;
  return new TorporError("operation_not_cancelable", `operation ${id} (${kind}) ${why}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { operation: id, kind, phase, status },
  });
}
