/** One entry of a tar, as odd or hostile as a test wants it: nothing is checked or normalised. */
export interface TarEntry {
  readonly name: string;
  /** Default: a file. */
  readonly type?: "file" | "directory" | "symlink" | "hardlink";
  readonly content?: string;
  readonly target?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly xattrs?: Readonly<Record<string, Buffer>>;
}

const blockBytes = 512;
const types = { file: "0", hardlink: "1", symlink: "2", directory: "5" } as const;

export function tar(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap((entry) => [...extended(entry), ...plain(entry)]), Buffer.alloc(2 * blockBytes)]);
}

function plain(entry: TarEntry): Buffer[] {
  const type = entry.type ?? "file";
  const content = Buffer.from(entry.content ?? "");
  const mode = entry.mode ?? (type === "directory" ? 0o755 : 0o644);
  return [header(entry.name, types[type], content.length, mode, entry.uid ?? 0, entry.target ?? ""), padded(content)];
}

/** A pax header, for extended attributes. */
function extended(entry: TarEntry): Buffer[] {
  if (entry.xattrs === undefined) {
    return [];
  }
  const records = Buffer.concat(Object.entries(entry.xattrs).map(([name, value]) => record(`SCHILY.xattr.${name}`, value)));
  return [header("pax", "x", records.length, 0o644, 0, ""), padded(records)];
}

/** `<length> <key>=<value>\n`, the length counting itself. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from("\n")]);
  let length = rest.length;
  while (String(length).length + rest.length !== length) {
    length = String(length).length + rest.length;
  }
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function header(name: string, type: string, size: number, mode: number, uid: number, target: string): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, at: number, width: number) => block.write(`${value.toString(8).padStart(width - 1, "0")}\0`, at);
  block.write(name, 0);
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(uid, 116, 8);
  octal(size, 124, 12);
  octal(1_700_000_000, 136, 12);
  block.write("        ", 148);
  block.write(type, 156);
  block.write(target, 157);
  block.write("ustar\x0000", 257);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)]);
}
