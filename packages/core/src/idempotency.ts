import { TorporError } from "@torpor/contract";
import type { Asking } from "./asking.ts";
import type { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import type { KeyRecord } from "./ports/store.ts";

/** What makes a call repeatable: the caller's key, and a hash of all that the call asks for. */
export interface Once {
  readonly key: string;
  readonly fingerprint: string;
}

/** What a call commits together with what it begins. */
export type KeyFor = (operationId: string) => readonly KeyRecord[];

/** So long a key is remembered. Later it is a new call, so clients must not retry longer than that. */
const keptMs = 24 * 60 * 60 * 1000;

/**
 * Does the work, or gives what it gave the first time. Only what began, joined or found an operation is remembered: a refusal
 * has changed nothing, so the retry of a refused call is looked at anew, and may succeed when its cause is gone.
 */
export async function doOnce(
  ports: Ports,
  runner: Runner,
  { once, scope }: { readonly once: Once | undefined; readonly scope: string },
  work: (keyFor: KeyFor) => Promise<Asking>,
): Promise<Asking> {
  if (once === undefined) return work(() => []);
  const earlier = await recall(ports, runner, once, scope);
  if (earlier !== undefined) return earlier;
  try {
    return await work((operationId) => [keyRecord(ports, once, scope, operationId)]);
  } catch (error) {
    // The same call, sent twice at once: what stood in this one's way may be what the other has begun.
    const meanwhile = await recall(ports, runner, once, scope);
    if (meanwhile === undefined) throw error;
    return meanwhile;
  }
}

async function recall(ports: Ports, runner: Runner, once: Once, scope: string): Promise<Asking | undefined> {
  const found = await recallKey(ports, once, scope);
  if (found === undefined) return undefined;
  const operation = await ports.store.findOperation(found.operationId);
  if (operation === undefined) throw new TorporError("operation_not_found", `operation ${found.operationId} of that key is kept no longer`);
  return { sandboxId: operation.sandboxId, operation, ended: runner.ended(operation.id) };
}

/** What the call's key began, if it came before; with another request it is refused. */
export async function recallKey(ports: Pick<Ports, "store" | "clock">, once: Once, scope: string): Promise<KeyRecord | undefined> {
  const found = await ports.store.findKey(scope, once.key, ports.clock.now().toISOString());
  if (found !== undefined) checkSame(found, once.fingerprint);
  return found;
}

/** Refuses a request that is not the one that the key came with. */
export function checkSame({ key, fingerprint, operationId: began }: KeyRecord, asked: string): void {
  if (fingerprint === asked) return;
  throw new TorporError("idempotency_conflict", `the idempotency key ${key} came with another request before${began && ` (${began})`}`, {
    hint: "use a new key for a new request",
    ...(began === "" ? {} : { details: { operation: began } }),
  });
}

export function keyRecord(
  { clock }: Pick<Ports, "clock">,
  { key, fingerprint }: Once,
  scope: string,
  operationId: string,
  answer: string | null = null,
): KeyRecord {
  const now = clock.now();
  return {
    key,
    scope,
    fingerprint,
    operationId,
    answer,
    createdAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + keptMs).toISOString(),
  };
}
