import { type CreatedWake, type CreateWakeRequest, TorporError, type Wake, type WakeAccepted, type WakeList } from "@torpor/contract";
import { lookUp } from "../commands.ts";
import type { Desk } from "../desk.ts";
import { keyRecord, type Once, recallKey } from "../idempotency.ts";
import { busy, notFound, unreadable } from "../lifecycle/refusals.ts";
import { StoreConflict } from "../ports/store.ts";
import type { WakeCall, WakeRecord } from "../ports/wake-store.ts";
import { requireCapability } from "../validation.ts";
import { newDelivery } from "./new-delivery.ts";
import { newWake } from "./new-wake.ts";

/** Of one sandbox. */
const wakeLimit = 100;
const pendingLimit = 1000;
/** Calls to one URL at the same instant come one after the other. */
const tries = 100;

export async function createWake(desk: Desk, idOrName: string, request: CreateWakeRequest, once?: Once): Promise<CreatedWake> {
  const { ports } = desk;
  const scope = `createWake ${idOrName}`;
  const recall = async (): Promise<CreatedWake | undefined> => {
    const earlier = once && (await recallKey(ports, once, scope));
    return earlier?.answer == null ? undefined : (JSON.parse(earlier.answer) as CreatedWake);
  };
  const earlier = await recall();
  if (earlier !== undefined) return earlier;
  await requireCapability(ports, "resume");
  const sandbox = await lookUp(ports, idOrName);
  if (sandbox.damage !== undefined) throw unreadable(sandbox, sandbox.damage.field);
  const active = sandbox.operationId === null ? undefined : await ports.store.findOperation(sandbox.operationId);
  if (sandbox.state === "removing" && active !== undefined) throw busy(sandbox, active);
  const { record, token } = newWake(ports, sandbox.id, request);
  if ((await ports.store.listWakes(sandbox.id)).length >= wakeLimit) {
    throw new TorporError("too_many_wakes", `sandbox ${sandbox.name} has ${wakeLimit} wakes: remove one first`);
  }
  const created = { ...viewOf(record), path: token === null ? null : `/v1/wake/${token}`, secret: record.secret };
  const keys = once === undefined ? [] : [keyRecord(ports, once, scope, record.id, JSON.stringify(created))];
  if (await committed(() => ports.store.commit({ wakes: [record], keys }))) return created;
  // The same call, sent twice at once.
  const meanwhile = await recall();
  if (meanwhile === undefined) throw notFound(idOrName);
  return meanwhile;
}

export async function listWakes({ ports }: Desk, idOrName: string): Promise<WakeList> {
  const { id } = await lookUp(ports, idOrName);
  const [wakes, counts] = await Promise.all([ports.store.listWakes(id), ports.store.countWakeups()]);
  return { wakes: wakes.map(viewOf), pending: counts.get(id) ?? 0 };
}

export async function removeWake({ ports }: Desk, idOrName: string, wakeId: string): Promise<void> {
  const { id, name } = await lookUp(ports, idOrName);
  for (let left = tries; left > 0; left--) {
    const wake = await ports.store.findWake(wakeId);
    if (wake === undefined || wake.sandboxId !== id) throw new TorporError("wake_not_found", `sandbox ${name} has no wake ${wakeId}`);
    if (await committed(() => ports.store.commit({ endedWakes: [wake] }))) return;
  }
  throw new TorporError("operation_active", `wake ${wakeId} is being called all the time: retry`);
}

/** Stores what the call brought; the sandbox is told afterwards. */
export async function callWake({ ports }: Desk, token: string, call: WakeCall): Promise<WakeAccepted> {
  const tokenHash = ports.tokens.hash(token);
  for (let left = tries; left > 0; left--) {
    const wake = await ports.store.findWakeByToken(tokenHash);
    if (wake === undefined) throw new TorporError("wake_not_found", "there is no such address: it was revoked, or its sandbox was removed");
    checkSignature(ports.tokens.verify, wake, call);
    if (((await ports.store.countWakeups()).get(wake.sandboxId) ?? 0) >= pendingLimit) {
      throw new TorporError("too_many_wakes", `${pendingLimit} wakes wait for the sandbox already`);
    }
    const delivery = newDelivery(ports, wake, call);
    const lastAt = delivery.firedAt;
    if (await committed(() => ports.store.commit({ wakes: [{ ...wake, lastAt }], wakeups: [delivery] }))) return { id: delivery.id };
  }
  throw new TorporError("operation_active", "the address is being called all the time: retry");
}

/** As GitHub and others sign, or by our own name for it. */
const signatureHeaders: readonly string[] = ["x-torpor-signature", "x-hub-signature-256"];

function checkSignature(
  verify: (secret: string, body: string, signature: string) => boolean,
  { secret }: WakeRecord,
  call: WakeCall,
): void {
  if (secret === null) return;
  const signatures = call.headers.filter(([name]) => signatureHeaders.includes(name.toLowerCase()));
  if (signatures.some(([, signature]) => verify(secret, call.body, signature))) return;
  throw new TorporError(
    "unauthorized",
    `the call to this address must be signed, and ${signatures.length === 0 ? "is not" : "its signature is wrong"}`,
    {
      hint: "send X-Torpor-Signature: sha256=<hex digits of the body's HMAC-SHA256 with the secret>",
    },
  );
}

/** false: somebody else changed it in between. */
async function committed(commit: () => Promise<void>): Promise<boolean> {
  try {
    await commit();
    return true;
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
}

function viewOf({ version: _version, tokenHash: _tokenHash, secret: _secret, ...shown }: WakeRecord): Wake {
  return shown;
}
