import type { TorporClient } from "./client.ts";
import { Command } from "./command.ts";
import { refuseUnknown } from "./refuse-unknown.ts";
import { type CommandLine, type ExecOptions, requestOf } from "./run.ts";
import { waking } from "./waking.ts";

export interface TerminalOptions extends Pick<ExecOptions, "env" | "workdir" | "user" | "timeoutMs"> {
  /** Default: the user's shell, bash if there is one. */
  readonly command?: CommandLine;
  /** Default 24 × 80. */
  readonly rows?: number;
  readonly columns?: number;
  /** Default xterm-256color. */
  readonly term?: string;
}

/** A terminal in a sandbox: iterating reads what it shows, `write` types. It goes on over a pause. */
export class Terminal extends Command {
  readonly #client: TorporClient;
  readonly #sandbox: string;

  constructor(...given: ConstructorParameters<typeof Command>) {
    super(...given);
    [this.#client, this.#sandbox] = given;
  }

  async resize(size: { readonly rows: number; readonly columns: number }): Promise<void> {
    refuseUnknown(size, { rows: true, columns: true });
    return this.#client.resize(this.#sandbox, this.id, size.rows, size.columns);
  }
}

const shell = ["sh", "-c", "exec $(command -v bash || echo sh) -l"];

export async function openTerminal(client: TorporClient, id: string, options: TerminalOptions): Promise<Terminal> {
  refuseUnknown(options, { command: true, env: true, workdir: true, user: true, timeoutMs: true, rows: true, columns: true, term: true });
  const { command = shell, rows = 24, columns = 80, term = "xterm-256color" } = options;
  const request = { ...requestOf(command, options), stdin: true, terminal: { rows, columns, term } };
  const session = await waking(() => client.startSession(id, request));
  return new Terminal(client, id, session.id, { overPause: "wait" });
}
