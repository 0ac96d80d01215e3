import { batch, signal } from "@preact/signals";
import type { OperationAnswer } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { newKey } from "../api/call.ts";
import { begin, type Verb } from "../api/calls.ts";
import { backoffMs } from "../stream/backoff.ts";
import { dropSandbox, putSandbox, refresh } from "./sandboxes.ts";

/** Sandboxes on which this page has begun something that has not ended. */
export const acting = signal<ReadonlySet<string>>(new Set());

/** What the last pause that this page has asked for released, by sandbox: known before its operation can be looked up. */
export const released = signal<ReadonlyMap<string, number>>(new Map());

const retries = 6;

/** Does something to a sandbox and resolves when it is done; throws what it failed of. */
export async function act(verb: Exclude<Verb, "create">, id: string, json: object = {}): Promise<OperationAnswer> {
  acting.value = new Set(acting.value).add(id);
  // The transitional state shows at once: its record is looked at while the call waits for the end.
  const looked = setTimeout(() => refresh(id).catch(() => {}), 30);
  try {
    const answer = settled(await repeated(verb, id, json));
    if (verb === "remove") dropSandbox(id);
    return answer;
  } catch (error) {
    refresh(id).catch(() => {});
    throw error;
  } finally {
    clearTimeout(looked);
    const rest = new Set(acting.value);
    rest.delete(id);
    acting.value = rest;
  }
}

/** A call whose answer is lost is made again with the same key: it is one. */
export async function repeated(verb: Verb, id: string, json: object, query: { wait?: number } = {}): Promise<OperationAnswer> {
  const key = newKey();
  for (let failures = 0; ; failures++) {
    try {
      return await begin(verb, id, json, key, query);
    } catch (error) {
      if (!(error instanceof TorporError) || error.code !== "daemon_unreachable" || failures === retries) throw error;
      await new Promise((resolve) => setTimeout(resolve, backoffMs(failures + 1)));
    }
  }
}

function settled(answer: OperationAnswer): OperationAnswer {
  const { operation, sandbox } = answer;
  batch(() => {
    if (operation.kind === "pause" && typeof operation.result.releasedBytes === "number") {
      released.value = new Map(released.value).set(operation.sandboxId, operation.result.releasedBytes);
    }
    if (sandbox !== null) putSandbox(sandbox);
  });
  if (operation.status === "failed") throw failureOf(operation);
  return answer;
}

/** Why a resume brought no processes back; undefined: it did, or it is no resume. */
export function freshStart({ result }: OperationAnswer["operation"]): string | undefined {
  if (result.restored !== "files") return undefined;
  return typeof result.reason === "string" ? result.reason : "its memory could not be restored";
}

export function failureOf({ error, kind }: OperationAnswer["operation"]): TorporError {
  if (error === null) return new TorporError("internal", `the ${kind} failed`);
  return new TorporError(error.code, error.message, error.hint === undefined ? {} : { hint: error.hint });
}
