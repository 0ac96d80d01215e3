import type { RunCodeRequest, RunLine, RunResult } from "@torpor/contract";
import type { TorporClient } from "./client.ts";

export interface Interpreter {
  /** A text is the code to run. */
  run(code: string | RunCodeRequest): Promise<RunResult>;
  /** The same, told as it goes on; the last line is the end. */
  lines(code: string | RunCodeRequest): AsyncGenerator<RunLine>;
}

export function interpreterOf(client: TorporClient, id: string, language: "python" | "shell"): Interpreter {
  const requestOf = (code: string | RunCodeRequest): RunCodeRequest => (typeof code === "string" ? { code } : code);
  return {
    run: (code) => client.interpreters.run(id, language, requestOf(code)),
    lines: (code) => client.interpreters.lines(id, language, requestOf(code)),
  };
}
