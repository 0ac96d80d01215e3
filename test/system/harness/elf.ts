import { closeSync, openSync, readSync } from "node:fs";

export interface Program {
  readonly processor: string;
  /** It needs no dynamic linker, hence no C library. */
  readonly isStatic: boolean;
}

const processors: Readonly<Record<number, string>> = { 62: "amd64", 183: "arm64" };
const interpreter = 3;

/** What a program's ELF header says; the numbers are those of elf.h, of 64 bits and little-endian. */
export function readProgram(file: string): Program {
  const head = Buffer.alloc(4096);
  const fd = openSync(file, "r");
  readSync(fd, head, 0, head.length, 0);
  closeSync(fd);
  if (head.toString("latin1", 0, 6) !== "\u007fELF\u0002\u0001") throw new Error(`${file} is no ELF file of 64 bits`);
  const [start, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
  const types = Array.from({ length: count }, (_, at) => head.readUInt32LE(start + at * size));
  const machine = head.readUInt16LE(18);
  return { processor: processors[machine] ?? `machine ${machine}`, isStatic: !types.includes(interpreter) };
}
