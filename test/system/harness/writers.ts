import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TorporClient } from "@torpor/sdk";
import { inside } from "./inside.ts";

/**
 * Writes numbered records with a checksum until it is ended, in files of 64. With `sync` each is on the disk before its number is said; what is
 * said went to memory, so it tells what was acknowledged, whatever becomes of the disk.
 */
const writer = `
import hashlib, os, struct, sys
sync, size = sys.argv[1] == "sync", int(sys.argv[2])
os.makedirs("/root/records", exist_ok=True)
told = open("/dev/shm/told", "w")
number = 0
while True:
    f = os.open("/root/records/%d" % (number // 64), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    body = struct.pack(">Q", number) + os.urandom(4096) * (size // 4096)
    record = hashlib.sha256(body).digest() + body
    if os.write(f, record) != len(record):
        raise SystemExit("short write")
    if sync:
        os.fsync(f)
    os.close(f)
    number += 1
    told.seek(0); told.write("%d" % number); told.flush()
`;

/** Prints how many whole records there are, and `torn` if any before the last is not what its checksum says. */
const reader = `
import hashlib, struct, sys
size, count = 32 + 8 + int(sys.argv[1]) // 4096 * 4096, 0
while True:
    try:
        f = open("/root/records/%d" % (count // 64), "rb")
    except FileNotFoundError:
        break
    whole = 0
    while True:
        record = f.read(size)
        if len(record) < size:
            break
        if hashlib.sha256(record[32:]).digest() != record[:32] or struct.unpack(">Q", record[32:40])[0] != count:
            print("torn", count); raise SystemExit
        count += 1; whole += 1
    if whole < 64:
        break
print(count)
`;

const recordBytes = 256 * 1024;

export async function startWriter(client: TorporClient, name: string, how: "sync" | "buffered"): Promise<void> {
  await client.startSession(name, { argv: ["python3", "-c", writer, how, String(recordBytes)] });
}

/** Records that the writer was told are written. It must be running. */
export async function told(client: TorporClient, name: string): Promise<number> {
  return Number((await inside(client, name, "cat /dev/shm/told")).stdout);
}

/** Records that are there, as the sandbox itself reads them. */
export async function found(client: TorporClient, name: string): Promise<number> {
  const { stdout, stderr } = await inside(client, name, ["python3", "-c", reader, String(recordBytes)]);
  const count = Number(stdout.trim());
  if (Number.isNaN(count)) throw new Error(`the records of ${name}: ${stdout}${stderr}`);
  return count;
}

/** e2fsck's words about each disk that no runtime has; empty: they are clean. */
export function checkDisks(data: string): string[] {
  const disks = path.join(data, "pool/disks");
  return readdirSync(disks)
    .filter((name) => name.endsWith(".ext4") && !name.startsWith("."))
    .flatMap((name) => fileSystemFaults(path.join(disks, name)));
}

/** Of a copy whose journal was played back, as a mount does it. */
function fileSystemFaults(disk: string): string[] {
  const directory = mkdtempSync(path.join(tmpdir(), "torpor-fsck-"));
  const copy = path.join(directory, "disk");
  try {
    execFileSync("cp", ["--sparse=always", disk, copy]);
    // 1: the journal was played back, or something was mended; then a second look must find nothing.
    const mended = run("e2fsck", "-p", copy);
    const { status, text } = run("e2fsck", "-fn", copy);
    return mended.status <= 1 && status === 0 && !/error|inconsisten/i.test(mended.text) ? [] : [`${disk}: ${mended.text}${text}`];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function run(program: string, ...args: string[]): { status: number; text: string } {
  try {
    return { status: 0, text: execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }) };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { status, text: `${stdout}${stderr}` };
  }
}
