import { setTimeout as sleep } from "node:timers/promises";
import type { TorporClient } from "@torpor/sdk/calls";
import { print } from "./leave.ts";

/** The API has the log's end and no stream of it: so often, in ms, somebody has to look. */
const lookMs = 500;
/** By so much of its end, in characters, the place is found again in a log that was cut at its start. */
const markLength = 4096;

/** Prints what is added to a sandbox's log, of which `text` was printed. Ends by an error: of the sandbox that was removed, for one. */
export async function followLog(client: TorporClient, sandbox: string, text: string): Promise<never> {
  for (let printed = text; ; ) {
    await sleep(lookMs);
    const now = await client.logs(sandbox);
    const added = addedTo(printed, now);
    if (added !== "") await print(added);
    printed = now;
  }
}

/** What stands in a log after what was seen of it; all of it if that is not in it any more. */
export function addedTo(seen: string, now: string): string {
  const mark = seen.slice(-markLength);
  if (mark === "") return now;
  const at = now.lastIndexOf(mark);
  return at < 0 ? now : now.slice(at + mark.length);
}
