import type { Session, Supervise, Supervision } from "@torpor/contract";
import type { TorporClient } from "./client.ts";
import { Command } from "./command.ts";
import { type NamesOf, refuseUnknown } from "./refuse-unknown.ts";
import { type BackgroundOptions, type CommandLine, requestOf } from "./run.ts";
import { waking } from "./waking.ts";

/** How the process is kept running stands beside how it is started. */
export type SuperviseOptions = Omit<BackgroundOptions, "background" | "timeoutMs"> & Supervise;

/**
 * A session whose process is kept running: begun again when it ends, after a boot, and after the daemon was away. It has one id and one output over all
 * its processes, and ends when it is removed.
 */
export class Supervised extends Command {
  readonly #client: TorporClient;
  readonly #sandbox: string;

  constructor(...given: ConstructorParameters<typeof Command>) {
    super(...given);
    [this.#client, this.#sandbox] = given;
  }

  /** What its process is doing. */
  async supervision(): Promise<Supervision> {
    return (await this.inspect()).supervision as Supervision;
  }

  /** Its process runs; one that was given up is tried again. */
  start(): Promise<Session> {
    return this.#client.supervised.start(this.#sandbox, this.id);
  }

  /** Its process has ended, and stays so. */
  stop(): Promise<Session> {
    return this.#client.supervised.stop(this.#sandbox, this.id);
  }

  /** Another process of it runs. */
  restart(): Promise<Session> {
    return this.#client.supervised.restart(this.#sandbox, this.id);
  }
}

const superviseNames: NamesOf<SuperviseOptions> = {
  env: true,
  workdir: true,
  user: true,
  stdin: true,
  outputLimitBytes: true,
  restart: true,
  maxRestarts: true,
  windowMs: true,
  backoffMs: true,
  readiness: true,
  runtimeRecovery: true,
  stopOrder: true,
  stopGraceMs: true,
};

/** Without a command that of the image. */
export async function supervise(
  client: TorporClient,
  id: string,
  line: CommandLine | undefined,
  options: SuperviseOptions,
): Promise<Supervised> {
  refuseUnknown(options, superviseNames);
  const { env, workdir, user, stdin = false, outputLimitBytes, ...policy } = options;
  const { argv, ...settings } = requestOf(line ?? [], { ...(env && { env }), ...(workdir && { workdir }), ...(user && { user }) });
  const what = line === undefined ? ({ command: "image" } as const) : { argv };
  const request = { ...settings, ...what, ...(stdin ? { stdin } : {}), supervise: policy };
  const session = await waking(() => client.startSession(id, request));
  return new Supervised(client, id, session.id, { overPause: "wait", ...(outputLimitBytes === undefined ? {} : { outputLimitBytes }) });
}
