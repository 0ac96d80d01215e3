import type { SessionEnd, StartSessionRequest } from "@torpor/contract";
import type { TorporClient } from "@torpor/sdk";

export interface Outcome {
  readonly end: SessionEnd;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in the sandbox to its end. A string is a shell command. */
export async function inside(
  client: TorporClient,
  sandbox: string,
  command: string | readonly string[],
  options: Omit<StartSessionRequest, "argv"> = {},
): Promise<Outcome> {
  const argv = typeof command === "string" ? ["sh", "-c", command] : [...command];
  const { end, stdout, stderr } = await client.exec(sandbox, { argv, ...options });
  return { end, stdout: Buffer.from(stdout, "base64").toString(), stderr: Buffer.from(stderr, "base64").toString() };
}

/** Its output without the last line break; fails with the command's own words when it does not exit with 0. */
export async function output(client: TorporClient, sandbox: string, command: string | readonly string[]): Promise<string> {
  const { end, stdout, stderr } = await inside(client, sandbox, command);
  if (end.exitCode !== 0) {
    throw new Error(`${JSON.stringify(command)} ended with ${end.exitCode}: ${stderr || stdout}`);
  }
  return stdout.trimEnd();
}

/** For what has to come: only a test that hangs meets it, however busy the machine is. */
export const patienceMs = 60_000;

/** For what has to come at once: who waited for a time-out of somebody else, or for what never comes, would wait longer. Below it a busy machine is late too. */
export const atOnceMs = 10_000;

/** Asks until the answer satisfies; fails with the last one after the limit. For what nothing announces. */
export async function eventually<T>(ask: () => Promise<T>, satisfies: (answer: T) => boolean, limitMs = patienceMs): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (satisfies(answer)) {
      return answer;
    }
    if (performance.now() > deadline) {
      throw new Error(`after ${limitMs} ms still ${JSON.stringify(answer)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
