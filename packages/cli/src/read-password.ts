import { TorporError } from "@torpor/sdk/calls";

/** A password or secret comes by the input, never by an argument, which every user of the host could read. */
export async function readPassword(what: "password" | "secret" = "password"): Promise<string> {
  if (process.stdin.isTTY === true) {
    throw new TorporError("invalid_request", `the ${what} is read from the input, which is a terminal here`, {
      hint: "Put it in a file and add <FILE, or pipe it in.",
    });
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks)
    .toString()
    .replace(/\r?\n$/, "");
}
