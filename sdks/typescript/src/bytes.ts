/** What content may be given as. Text is UTF-8. */
export type Content =
  | string
  | Uint8Array
  | ArrayBuffer
  | Blob
  | AsyncIterable<Uint8Array | string>
  | Iterable<Uint8Array>
  | ReadableStream<Uint8Array>;

const encoder = new TextEncoder();

/** The bytes of it, as they come. */
export async function* bytesOf(content: Content): AsyncGenerator<Uint8Array> {
  if (typeof content === "string") yield encoder.encode(content);
  else if (content instanceof Uint8Array) yield content;
  else if (content instanceof ArrayBuffer) yield new Uint8Array(content);
  else if (content instanceof Blob) yield* chunksOf(content.stream());
  else if (isStream(content)) yield* chunksOf(content);
  else for await (const chunk of content) yield typeof chunk === "string" ? encoder.encode(chunk) : chunk;
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function isStream(content: object): content is ReadableStream<Uint8Array> {
  return "getReader" in content;
}

/** Not every browser can iterate a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
