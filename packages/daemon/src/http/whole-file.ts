import { type Entry, TorporError } from "@torpor/contract";

/**
 * A file's content as long as it was when it was opened, so that one that others append to ends, and its length can be told first. A file that
 * says that it has no bytes is read to its end: those of `/proc` say so. One that others made shorter fails with `storage_failed`.
 */
export function wholeFile(
  entry: Entry,
  content: AsyncIterable<Uint8Array>,
): { readonly length?: number; readonly content: AsyncIterable<Uint8Array> } {
  return entry.size === 0 ? { content } : { length: entry.size, content: cut(entry, content) };
}

async function* cut({ path, size }: Entry, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const chunk of content) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
  throw new TorporError(
    "storage_failed",
    `${path} was made shorter while it was read: ${left} of ${size} bytes are missing. Read it again.`,
  );
}
