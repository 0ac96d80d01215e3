import { open } from "node:fs/promises";

/** Changes one bit at a share of the file's length, from its first byte to its last; again, and it is as it was. */
export async function flipByte(file: string, share = 0.5): Promise<void> {
  await using handle = await open(file, "r+");
  const at = Math.floor(((await handle.stat()).size - 1) * share);
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  await handle.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at);
}
