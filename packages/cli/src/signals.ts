import type { TorporClient } from "@torpor/sdk/calls";
import { say } from "./failure.ts";

export interface SignalTarget {
  readonly client: TorporClient;
  readonly sandbox: string;
  /** Undefined until the command runs. */
  sessionId: string | undefined;
}

const numbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const;

/** After so many the user wants out, whatever the command does. */
const patience = 3;

/**
 * Hands signals on to the session's process group, by calls of their own: on the session's connection they would wait
 * behind input that the command does not take. With `raw` input Ctrl-C is a byte of the input, and a signal comes from
 * outside: it ends this process, whose exit restores the terminal.
 */
export function forwardSignals(target: SignalTarget, raw: boolean): () => void {
  let count = 0;
  const handlers = Object.entries(numbers).map(([name, number]) => {
    const handle = () => {
      count++;
      if (raw || target.sessionId === undefined || count > patience) giveUp(number, raw || target.sessionId === undefined);
      else target.client.signal(target.sandbox, target.sessionId, name).catch(() => {});
    };
    process.on(name, handle);
    return [name, handle] as const;
  });
  return () => {
    for (const [name, handle] of handlers) process.removeListener(name, handle);
  };
}

function giveUp(number: number, quiet: boolean): never {
  if (!quiet) say("torpor: the command does not end: it is left running");
  process.exit(128 + number);
}
