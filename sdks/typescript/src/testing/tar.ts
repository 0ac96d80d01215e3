export interface Entry {
  readonly name: string;
  readonly type?: "file" | "directory" | "symlink" | "link";
  readonly linkname?: string;
  readonly content?: string;
  readonly mode?: number;
}

const types = { file: "0", link: "1", symlink: "2", directory: "5" } as const;

/** A tar stream of just these entries, as hostile as they are: tools that make archives would tidy them up. */
export async function* tarOf(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    const content = Buffer.from(entry.content ?? "");
    yield headerOf(entry, content.length);
    yield content;
    yield Buffer.alloc((512 - (content.length % 512)) % 512);
  }
  yield Buffer.alloc(1024);
}

function headerOf({ name, type = "file", linkname = "", mode = 0o644 }: Entry, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(types[type], 156);
  header.write(linkname, 157, 100);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
