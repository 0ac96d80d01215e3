import countPy from "../../../../examples/count.py?raw";
import { request } from "../api/call.ts";
import { startSession } from "../api/calls.ts";

/** What is typed into the first terminal and waits to be entered. */
export const starterCommand = "python3 count.py";

/** A shell with its history and completion if the image has one, else what every image has. */
const shell = ["sh", "-c", 'command -v bash >/dev/null && exec bash -l; exec "${SHELL:-sh}" -i'];

/** As a terminal is likely to be; the real one sets its own size as soon as it is shown. */
const firstSize = { rows: 30, columns: 100 };

/** Puts the counter into the sandbox's working directory. */
export async function putStarter(sandboxId: string): Promise<void> {
  await request("PUT", `/v1/sandboxes/${encodeURIComponent(sandboxId)}/files`, { query: { path: "count.py" }, body: countPy });
}

export async function openShell(sandboxId: string): Promise<string> {
  const { id } = await startSession(sandboxId, { argv: shell, stdin: true, terminal: { ...firstSize, term: "xterm-256color" } });
  return id;
}
