import { TorporError } from "@torpor/sdk/calls";
import { readPassword } from "./read-password.ts";

/** From the terminal, without showing it, or from the input; never from an argument, which every user of the host could read. */
export async function readSecret(what: string): Promise<string> {
  const secret = process.stdin.isTTY === true ? await ask(what) : await readPassword("secret");
  if (secret !== "") return secret;
  throw new TorporError("invalid_request", `the ${what} is empty`, { hint: `type it, or pipe it in: torpor login URL <${what}.txt` });
}

const end = new Set(["\r", "\n", "\u0004"]);
const erase = new Set(["\u007f", "\b"]);

async function ask(what: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question: what is pasted as soon as it shows must not show.
  stdin.setRawMode(true);
  stderr.write(`${what}: `);
  try {
    return await typed(stdin);
  } finally {
    stdin.setRawMode(false);
    stderr.write("\n");
  }
}

async function typed(keys: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of keys) {
    for (const key of String(chunk)) {
      if (end.has(key)) return text.trim();
      if (key === "\u0003") throw new TorporError("invalid_request", "interrupted: nothing was kept");
      text = erase.has(key) ? text.slice(0, -1) : text + key;
    }
  }
  return text.trim();
}
