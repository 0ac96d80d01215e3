import {
  type Actor,
  ForkRequest,
  fromErrorBody,
  type OperationAnswer,
  PauseRequest,
  SelfVerb,
  TorporError,
  toErrorBody,
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
}

/** What a process asks becomes a call like any other, repeatable by the request's id: whoever tells of it again gets the same outcome. */
export function serveRequests(ports: Ports, calls: SelfCalls, ready: () => Promise<unknown>): void {
  ports.engine.onRequest(async (sandboxId, request): Promise<SelfAnswer> => {
    try {
      // A recovery frees what nothing refers to: nothing may begin beside it.
      await ready();
      const { operation } = await perform(await lookUp(ports, sandboxId), request, calls);
      return operation.error === null ? { result: operation.result } : tell(fromErrorBody({ error: operation.error }), request.verb);
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

function perform(sandbox: SandboxRecord, { id, verb, options }: SelfRequest, calls: SelfCalls): Promise<OperationAnswer> {
  const granted = checkGranted(sandbox, verb);
  if (!/^\w{1,64}$/.test(id)) throw new TorporError("invalid_request", "the request has no id");
  const call: CallOptions = { actor: "self", once: { key: `self-${id}`, fingerprint: options } };
  switch (granted) {
    case "pause":
      return calls.pause(sandbox.id, parse(PauseRequest, options), call);
    case "fork":
      return calls.fork(sandbox.id, parse(ForkRequest, options), call);
  }
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
        readonly error: { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] };
      };
}

function parse<T>(schema: Schema<T>, text: string): T {
  const parsed = schema.safeParse(json(text));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => [...path.map(String), message].join(": "));
  throw new TorporError("invalid_request", `the request is not valid: ${issues.join("; ")}`);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text === "" ? "{}" : text);
  } catch {
    return undefined;
  }
}
