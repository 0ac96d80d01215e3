import type { ErrorBody, ForkRequest, PauseRequest, ResumeMemory, Sandbox as SandboxRecord } from "@torpor/contract";
import type { TorporError } from "@torpor/contract/error";
import { apart, endNames, roomAndEndNames } from "./apart.ts";
import { bodyNames } from "./body-names.ts";
import type { WaitingForEnd, WaitingForRoomAndEnd } from "./call-options.ts";
import type { TorporClient } from "./client.ts";
import { toError } from "./transport.ts";

export interface ResumeAndWaitOptions extends WaitingForRoomAndEnd {
  /** true: the memory if it can be restored, else fresh processes. false: fresh processes. */
  readonly memory?: boolean | ResumeMemory;
}

/** A child of a fork, or why there is none. */
export type ChildOf<S> = { readonly sandbox: S; readonly error: null } | { readonly name: string; readonly error: TorporError };

/** Pauses it and resolves with its record once it is paused and holds nothing any more. One that is paused already is fine, as for a retry. */
export async function pauseAndWait(client: TorporClient, id: string, options: PauseRequest & WaitingForEnd): Promise<SandboxRecord> {
  const { sandbox } = await client.pause(id, ...apart<PauseRequest>(options, bodyNames.pauseSandbox, endNames));
  return sandbox ?? client.get(id);
}

/** Resumes it and resolves with its record once it runs. */
export async function resumeAndWait(client: TorporClient, id: string, options: ResumeAndWaitOptions): Promise<SandboxRecord> {
  const [{ memory }, waiting] = apart<Pick<ResumeAndWaitOptions, "memory">>(options, bodyNames.resumeSandbox, roomAndEndNames);
  const { sandbox } = await client.resume(id, memory === undefined ? {} : { memory: memoryOf(memory) }, waiting);
  return sandbox ?? client.get(id);
}

/** Forks a sandbox; `made` makes its children's objects. */
export async function childrenOf<S>(
  client: TorporClient,
  id: string,
  options: ForkRequest & WaitingForRoomAndEnd,
  made: (record: SandboxRecord) => S,
): Promise<ChildOf<S>[]> {
  const { operation } = await client.fork(id, ...apart<ForkRequest>(options, bodyNames.forkSandbox, roomAndEndNames));
  const children = (operation.result.children ?? []) as readonly { id: string; name: string; error: ErrorBody["error"] | null }[];
  return Promise.all(
    children.map(async ({ id: childId, name, error }) =>
      error === null ? { sandbox: made(await client.get(childId)), error } : { name, error: toError(error) },
    ),
  );
}

function memoryOf(memory: boolean | ResumeMemory): ResumeMemory {
  return memory === true ? "prefer" : memory === false ? "discard" : memory;
}
