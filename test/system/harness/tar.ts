import { execFileSync } from "node:child_process";

export interface TarEntry {
  readonly name: string;
  readonly type?: "file" | "directory" | "symlink" | "link" | "fifo";
  readonly target?: string;
  readonly content?: string;
}

/** A tar with exactly these entries, also ones that no tool would write; Python's tarfile makes it. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  return execFileSync("python3", ["-c", program], { input: JSON.stringify(entries), maxBuffer: 2 ** 26 });
}

const program = `
import io, json, sys, tarfile
types = {'file': tarfile.REGTYPE, 'directory': tarfile.DIRTYPE, 'symlink': tarfile.SYMTYPE, 'link': tarfile.LNKTYPE, 'fifo': tarfile.FIFOTYPE}
out = tarfile.open(fileobj=sys.stdout.buffer, mode='w|')
for e in json.load(sys.stdin):
    info = tarfile.TarInfo(e['name'])
    info.type = types[e.get('type', 'file')]
    info.mode = 0o755 if info.type == tarfile.DIRTYPE else 0o644
    info.linkname = e.get('target', '')
    data = e.get('content', '').encode()
    info.size = len(data)
    out.addfile(info, io.BytesIO(data))
out.close()
`;

/** Names and kinds of a tar's entries, as Python's tarfile reads them. */
export function entriesOf(tar: Uint8Array): Record<string, string> {
  return JSON.parse(execFileSync("python3", ["-c", reader], { input: tar, encoding: "utf8" })) as Record<string, string>;
}

const reader = `
import io, json, sys, tarfile
kinds = {tarfile.REGTYPE: 'file', tarfile.DIRTYPE: 'directory', tarfile.SYMTYPE: 'symlink', tarfile.LNKTYPE: 'link', tarfile.FIFOTYPE: 'fifo'}
t = tarfile.open(fileobj=io.BytesIO(sys.stdin.buffer.read()))
print(json.dumps({m.name: kinds.get(m.type, '?') + (' ' + m.linkname if m.linkname else '') for m in t}))
`;
