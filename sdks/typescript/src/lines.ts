import { TorporError } from "@torpor/contract/error";

/** Lines of a stream of text, empty ones too; what comes after the last line end is none. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of whole(chunks)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

async function* whole(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw new TorporError("connection_lost", `the connection to torpord broke off: ${(error as Error).message}`, {
      hint: "what the call began goes on: look at its outcome, or call again",
      cause: error,
    });
  }
}
