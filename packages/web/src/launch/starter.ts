import { TorporError } from "@torpor/contract/error";
import countPy from "../../../../examples/count.py?raw";
import { request } from "../api/call.ts";
import { startSession } from "../api/calls.ts";

/** What is typed into the first terminal and waits to be entered. */
export const starterCommand = "python3 count.py";

/** One with history and completion if the image has it, else what nearly every image has. */
const shells = [
  ["bash", "-l"],
  ["sh", "-i"],
] as const;

/** As a terminal is likely to be; the real one sets its own size as soon as it is shown. */
const firstSize = { rows: 30, columns: 100 };

/** Puts the counter into the sandbox's working directory. */
export async function putStarter(sandboxId: string): Promise<void> {
  await request("PUT", `/v1/sandboxes/${encodeURIComponent(sandboxId)}/files`, { query: { path: "count.py" }, body: countPy });
}

export async function openShell(sandboxId: string): Promise<string> {
  const [best, other] = shells;
  const start = async (argv: readonly string[]) =>
    (await startSession(sandboxId, { argv: [...argv], stdin: true, terminal: { ...firstSize, term: "xterm-256color" } })).id;
  return start(best).catch((error: unknown) => {
    if (error instanceof TorporError && error.code === "command_not_started") return start(other);
    throw error;
  });
}
