import { open, rename } from "node:fs/promises";
import path from "node:path";

/** Waits until a file's content, or a directory's entries, are on stable storage. */
export async function sync(target: string): Promise<void> {
  await using handle = await open(target, "r");
  await handle.sync();
}

/** Replaces a file so that after a crash there is the old or the new content, whole. */
export async function writeDurably(target: string, content: string): Promise<void> {
  const temporary = `${target}.new`;
  {
    await using handle = await open(temporary, "w", 0o600);
    await handle.writeFile(content);
    await handle.sync();
  }
  await rename(temporary, target);
  await sync(path.dirname(target));
}
