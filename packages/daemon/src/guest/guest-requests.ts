import type { Client } from "@connectrpc/connect";
import type { SelfAnswer, SelfRequest } from "@torpor/core";
import type { Guest as GuestService } from "./protocol/torpor/guest/v1/guest_pb.ts";

export type OnRequest = (sandboxId: string, request: SelfRequest) => Promise<SelfAnswer>;

/** More requests of one sandbox wait in its guest. */
const atOnce = 16;

/**
 * Takes what processes of a sandbox ask, to the end of the line. An answer that does not get through is no loss: who comes next is told of the
 * request again. The guest of an older checkpoint has none to tell.
 */
export async function followRequests(client: Client<typeof GuestService>, sandboxId: string, onRequest: OnRequest): Promise<void> {
  const working = new Set<Promise<unknown>>();
  try {
    for await (const { id, verb, options } of client.requests({})) {
      const work = onRequest(sandboxId, { id, verb, options })
        .then((answer) => client.answer({ id, answer: JSON.stringify(answer) }))
        .catch(() => {});
      working.add(work);
      void work.finally(() => working.delete(work));
      if (working.size >= atOnce) await Promise.race(working);
    }
  } catch {
    // The line broke: the next one asks anew.
  }
}
