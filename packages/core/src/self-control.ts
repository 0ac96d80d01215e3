import {
  type Actor,
  type CreatedWake,
  CreateSnapshotRequest,
  type CreateWakeRequest,
  ForkRequest,
  fromErrorBody,
  type Issue,
  type OperationAnswer,
  objectionsTo,
  type PauseRequest,
  SelfPauseRequest,
  SelfVerb,
  SelfWakeRequest,
  TorporError,
  toErrorBody,
  type WakeList,
} from "@torpor/contract";
import { lookUp } from "./commands.ts";
import { describeError, toTorporError } from "./failure.ts";
import type { Once } from "./idempotency.ts";
import type { SelfAnswer, SelfRequest } from "./ports/engine.ts";
import type { Ports } from "./ports/ports.ts";
import type { SandboxRecord } from "./ports/store.ts";

interface CallOptions {
  readonly actor: Actor;
  readonly once: Once;
}

/** The calls that processes may ask for. */
export interface SelfCalls {
  pause(id: string, request: PauseRequest, options: CallOptions): Promise<OperationAnswer>;
  fork(id: string, request: ForkRequest, options: CallOptions): Promise<OperationAnswer>;
  snapshot(id: string, request: CreateSnapshotRequest, options: CallOptions): Promise<OperationAnswer>;
  createWake(id: string, request: CreateWakeRequest): Promise<CreatedWake>;
  listWakes(id: string): Promise<WakeList>;
  removeWake(id: string, wakeId: string): Promise<void>;
}

/** What a process asks becomes a call like any other, repeatable by the request's id: whoever tells of it again gets the same outcome. */
export function serveRequests(ports: Ports, calls: SelfCalls, ready: () => Promise<unknown>): void {
  ports.engine.onRequest(async (sandboxId, request): Promise<SelfAnswer> => {
    try {
      // A recovery frees what nothing refers to: nothing may begin beside it.
      await ready();
      return await perform(await lookUp(ports, sandboxId), request, calls);
    } catch (error) {
      if (!(error instanceof TorporError))
        ports.log.error("a request from inside failed", { sandbox: sandboxId, cause: describeError(error) });
      return tell(toTorporError(error), request.verb);
    }
  });
}

/** A failure of the host may name what is on the host: that is not for what runs in the sandbox. */
function tell(error: TorporError, verb: string): SelfAnswer {
  if (error.status < 500) return toErrorBody(error);
  return { error: { code: error.code, message: `the ${verb} failed: who runs this sandbox is told why` } };
}

async function perform(sandbox: SandboxRecord, { id, verb, options }: SelfRequest, calls: SelfCalls): Promise<SelfAnswer> {
  const granted = checkGranted(sandbox, verb);
  if (!/^\w{1,64}$/.test(id)) throw new TorporError("invalid_request", "the request has no id");
  const call: CallOptions = { actor: "self", once: { key: `self-${id}`, fingerprint: options } };
  switch (granted) {
    case "pause": {
      const { wakeAfterMs, ...request } = parse(SelfPauseRequest, options);
      const pause = () => calls.pause(sandbox.id, request, call);
      return answerOf(await (wakeAfterMs === undefined ? pause() : pauseFor(sandbox.id, id, wakeAfterMs, calls, pause)), verb);
    }
    case "fork":
      return answerOf(await calls.fork(sandbox.id, parse(ForkRequest, options), call), verb);
    case "snapshot":
      return answerOf(await calls.snapshot(sandbox.id, parse(CreateSnapshotRequest, options), call), verb);
    case "wake": {
      const { path, id: wakeId } = await wakeOnce(sandbox.id, id, { ...parse(SelfWakeRequest, options), url: true }, calls);
      return { result: { path, id: wakeId } };
    }
  }
}

function answerOf({ operation }: OperationAnswer, verb: string): SelfAnswer {
  return operation.error === null ? { result: operation.result } : tell(fromErrorBody({ error: operation.error }), verb);
}

/** The wake is there before the pause, and goes with one that did not come about. */
async function pauseFor(
  sandboxId: string,
  requestId: string,
  afterMs: number,
  calls: SelfCalls,
  pause: () => Promise<OperationAnswer>,
): Promise<OperationAnswer> {
  const wake = await wakeOnce(sandboxId, requestId, { afterMs }, calls);
  // It may have come meanwhile, and be gone.
  const takeBack = () => calls.removeWake(sandboxId, wake.id).catch(() => {});
  const answer = await pause().catch(async (error: unknown) => {
    await takeBack();
    throw error;
  });
  if (answer.operation.error !== null) await takeBack();
  return answer;
}

/** One for each request: what an earlier daemon made for it is replaced, since its address was told to nobody. */
async function wakeOnce(sandboxId: string, requestId: string, request: CreateWakeRequest, calls: SelfCalls): Promise<CreatedWake> {
  const label = `torpor in the sandbox, request ${requestId}`;
  for (const earlier of (await calls.listWakes(sandboxId)).wakes) {
    if (earlier.label === label) await calls.removeWake(sandboxId, earlier.id);
  }
  return calls.createWake(sandboxId, { ...request, label });
}

function checkGranted({ name, selfControl = [] }: SandboxRecord, verb: string): SelfVerb {
  const { success, data } = SelfVerb.safeParse(verb);
  if (!success)
    throw new TorporError("invalid_request", `there is no ${JSON.stringify(verb.slice(0, 40))}: torpor --help tells what there is`);
  if (selfControl.includes(data)) return data;
  throw new TorporError("self_control_denied", `the processes of sandbox ${name} may not ${data} it`, {
    hint: `create it with --self-control ${data}`,
    details: { verb: data, granted: selfControl },
  });
}

interface Schema<T> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: T }
    | {
        readonly success: false;
        readonly error: { readonly issues: readonly Issue[] };
      };
}

function parse<T>(schema: Schema<T>, text: string): T {
  const parsed = schema.safeParse(json(text));
  if (parsed.success) return parsed.data;
  throw new TorporError("invalid_request", `the request is not valid: ${objectionsTo(parsed.error.issues)}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    return undefined;
  }
}
