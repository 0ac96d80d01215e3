import type { Interpreter, InterpreterLanguage, RunCodeRequest, RunLine, RunResult } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { linesOf } from "./lines.ts";
import { type Transport, toError } from "./transport.ts";

/** Python and shells that keep their variables from run to run, over pauses and forks. `iid`: the id of one, or `python` or `shell` for the sandbox's own. */
export class InterpreterClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  create(id: string, language: InterpreterLanguage): Promise<Interpreter> {
    return this.#transport.json("createInterpreter", { params: { id }, body: { language } });
  }

  run(id: string, iid: string, body: RunCodeRequest): Promise<RunResult> {
    return this.#transport.json("runCode", { params: { id, iid }, body });
  }

  /** The same, told as it goes on; the last line is the end. */
  async *lines(id: string, iid: string, body: RunCodeRequest): AsyncGenerator<RunLine> {
    const headers = { accept: "application/x-ndjson" };
    for await (const text of linesOf(await this.#transport.call("runCode", { params: { id, iid }, body, headers }))) {
      const line = JSON.parse(text) as RunLine | { readonly error: Parameters<typeof toError>[0] };
      if ("error" in line) throw toError(line.error);
      yield line;
      if ("end" in line) return;
    }
    throw new TorporError("daemon_unreachable", "the connection to torpord broke off before the run's end", {
      hint: "The run goes on; its variables are kept.",
    });
  }
}
