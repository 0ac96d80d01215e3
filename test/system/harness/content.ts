import { createHash, randomBytes } from "node:crypto";
import type { TorporClient } from "@torpor/sdk";

export const mib = 2 ** 20;

export function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** A stream of random bytes with the hash of what was given so far. */
export class RandomContent {
  readonly #hash = createHash("sha256");
  readonly #sizeBytes: number;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const block = randomBytes(Math.min(this.#sizeBytes, mib));
    for (let left = this.#sizeBytes, n = 0; left > 0; left -= mib, n++) {
      // Each block another, for one taken twice or out of order to be seen.
      block[n % block.length] = n;
      const chunk = Buffer.from(block.subarray(0, Math.min(left, mib)));
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}

export async function put(
  client: TorporClient,
  sandbox: string,
  path: string,
  content: string | Uint8Array,
  options: { mode?: number; user?: string; parents?: boolean } = {},
): Promise<void> {
  await client.files.write(sandbox, path, one(Buffer.from(content)), options);
}

export async function get(client: TorporClient, sandbox: string, path: string, options: { user?: string } = {}): Promise<Buffer> {
  const { content } = await client.files.read(sandbox, path, options);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export async function* one(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
