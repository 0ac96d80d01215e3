import type { Session, StartSessionRequest } from "@torpor/contract";
import { bytesOf, type Content } from "./bytes.ts";
import type { TorporClient } from "./client.ts";
import { Command, type ReadOptions } from "./command.ts";
import type { CommandResult } from "./command-result.ts";
import { clientId } from "./numbered-input.ts";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";
import type { SessionStream } from "./session-stream.ts";
import { waking } from "./waking.ts";

export interface ExecOptions extends ReadOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** Name, uid, name:group or uid:gid. */
  readonly user?: string;
  /** Limit of running time, in ms; a pause does not count. The result has `timedOut` and the exit code 124 then. */
  readonly timeoutMs?: number;
  /** Its input; default none. */
  readonly stdin?: Content;
  /** When the sandbox is paused meanwhile: throw `session_paused`, which is the default, or wait until it runs again. */
  readonly overPause?: "wait" | "throw";
  /** Of each stream the result has at most so much, the latest. Default 8 MiB. */
  readonly outputLimitBytes?: number;
  /** Ends the command (KILL), and rejects. */
  readonly signal?: AbortSignal;
  readonly background?: false;
}

export interface BackgroundOptions extends Omit<ExecOptions, "background" | "signal" | "onStdout" | "onStderr" | "overPause" | "stdin"> {
  readonly background: true;
  /** true: it has an input, for `write` and `closeStdin`. Default none. */
  readonly stdin?: boolean;
}

/** A text is for `sh -c`; a list is a program and its arguments. */
export type CommandLine = string | readonly string[];

const commonNames = {
  background: true,
  env: true,
  workdir: true,
  user: true,
  timeoutMs: true,
  stdin: true,
  outputLimitBytes: true,
} as const;
const execNames: NamesOf<ExecOptions> = { ...commonNames, overPause: true, onStdout: true, onStderr: true, signal: true };
const backgroundNames: NamesOf<BackgroundOptions> = commonNames;

/** Runs a command to its end. */
export async function run(client: TorporClient, id: string, line: CommandLine, options: ExecOptions): Promise<CommandResult> {
  refuseUnknown(options, execNames);
  const { signal, stdin, overPause = "throw", outputLimitBytes, onStdout, onStderr } = options;
  signal?.throwIfAborted();
  const request = { ...requestOf(line, options), ...(stdin === undefined ? {} : { stdin: true }) };
  const typist = stdin === undefined ? {} : { client: clientId() };
  const stream = await waking(() => client.stream(id, request, typist), signal);
  const begun = startedOn(stream);
  const kill = () => void begun.then((session) => client.signal(id, session.id, "KILL")).catch(() => {});
  signal?.addEventListener("abort", kill, { once: true });
  try {
    const { id: sessionId } = await begun;
    const command = new Command(
      client,
      id,
      sessionId,
      { overPause, ...typist, ...(outputLimitBytes === undefined ? {} : { outputLimitBytes }) },
      stream,
    );
    return await fed(command, stdin, {
      ...(signal === undefined ? {} : { signal }),
      ...(onStdout === undefined ? {} : { onStdout }),
      ...(onStderr === undefined ? {} : { onStderr }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", kill);
    // Of an aborted one the session's id is still to come, for the KILL.
    void begun.catch(() => {}).finally(() => stream.close());
  }
}

/** Starts a command and leaves it running. */
export async function start(client: TorporClient, id: string, line: CommandLine, options: BackgroundOptions): Promise<Command> {
  refuseUnknown(options, backgroundNames);
  const { stdin = false, outputLimitBytes } = options;
  const session = await waking(() => client.startSession(id, { ...requestOf(line, options), ...(stdin ? { stdin } : {}) }));
  return new Command(client, id, session.id, { overPause: "wait", ...(outputLimitBytes === undefined ? {} : { outputLimitBytes }) });
}

export function requestOf(
  line: CommandLine,
  { env, workdir, user, timeoutMs }: Pick<ExecOptions, "env" | "workdir" | "user" | "timeoutMs">,
): StartSessionRequest {
  return {
    argv: typeof line === "string" ? ["sh", "-c", line] : [...line],
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(workdir === undefined ? {} : { workdir }),
    ...(user === undefined ? {} : { user }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** The first frame; the rest is left for who reads next. */
export async function startedOn(stream: SessionStream): Promise<Session> {
  const { value } = await stream[Symbol.asyncIterator]().next();
  return (value as { session: Session }).session;
}

/** Its end, with its input beside it. Input whose source fails is not taken for a whole one: the command is killed, and the failure thrown. */
async function fed(command: Command, stdin: Content | undefined, options: ReadOptions): Promise<CommandResult> {
  let failed: { readonly cause: unknown } | undefined;
  const feeding = stdin === undefined ? undefined : command.feed(bytesOf(stdin));
  feeding?.catch(async (cause: unknown) => {
    failed = { cause };
    await command.kill().catch(() => {});
  });
  try {
    const result = await command.wait(options);
    if (failed !== undefined) throw failed.cause;
    return result;
  } finally {
    command.disconnect();
  }
}
