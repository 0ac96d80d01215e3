import { Readable } from "node:stream";

/** A stream whose first chunk has come: a refusal still becomes a status, where after the headers it could only break off. */
export async function startStream(chunks: AsyncIterable<Uint8Array>): Promise<Readable> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  return Readable.from(rest(first, iterator), { objectMode: false });
}

async function* rest(first: IteratorResult<Uint8Array>, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
