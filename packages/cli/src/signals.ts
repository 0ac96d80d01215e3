import type { TorporClient } from "@torpor/sdk/calls";
import { say } from "./failure.ts";

export interface SignalTarget {
  readonly client: TorporClient;
  readonly sandbox: string;
  /** Undefined until the command runs. */
  sessionId: string | undefined;
  /** Called when it has begun to run. */
  onStarted?: (sessionId: string) => void;
}

const numbers = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const;

/** After so many the user wants out, whatever the command does. */
const patience = 3;
/** A signal waits for a command that is about to run, so that it is not left running. After so long the user is told, as where a sandbox wakes first. */
const startMs = 2000;

/**
 * Hands signals on to the session's process group, by calls of their own: on the session's connection they would wait
 * behind input that the command does not take. With `raw` input Ctrl-C is a byte of the input, and a signal comes from
 * outside: it ends this process, whose exit restores the terminal.
 */
export function forwardSignals(target: SignalTarget, raw: boolean): () => void {
  let count = 0;
  let early: NodeJS.Timeout | undefined;
  const send = (sessionId: string, name: string) => void target.client.signal(target.sandbox, sessionId, name).catch(() => {});
  const handlers = Object.entries(numbers).map(([name, number]) => {
    const handle = () => {
      count++;
      if (raw || count > patience || early !== undefined) giveUp(number, raw || early !== undefined);
      if (target.sessionId !== undefined) return send(target.sessionId, name);
      early = setTimeout(
        () => say("torpor: the command has not begun to run: it gets the signal when it does (again to leave it)"),
        startMs,
      );
      target.onStarted = (sessionId) => {
        clearTimeout(early);
        early = undefined;
        send(sessionId, name);
      };
    };
    process.on(name, handle);
    return [name, handle] as const;
  });
  return () => {
    clearTimeout(early);
    for (const [name, handle] of handlers) process.removeListener(name, handle);
  };
}

function giveUp(number: number, quiet: boolean): never {
  if (!quiet) say("torpor: the command does not end: it is left running");
  process.exit(128 + number);
}
