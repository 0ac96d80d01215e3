/** As a shell reports a death by SIGPIPE: what a program gets whose reader has gone. */
export const brokenPipeCode = 141;

/** What is still to be done before the process ends with its reader. */
const farewells: (() => Promise<void>)[] = [];
let leaving = false;

export function onBrokenPipe(work: () => Promise<void>): void {
  farewells.push(work);
}

/** A reader that has enough (`torpor list | head -1`) is no failure to tell of. */
export function endQuietlyOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      // stderr may have gone the same way: once is enough.
      if (leaving) return;
      leaving = true;
      void Promise.allSettled(farewells.map((work) => work())).finally(() => process.exit(brokenPipeCode));
    });
  }
}

/** Ends the process once stdout and stderr have taken everything. */
export async function leave(): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
  process.exit();
}

/** Writes at the reader's pace. */
export async function write(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  if (!stream.write(data)) await new Promise<void>((resolve) => stream.once("drain", resolve));
}

/** Writes to stdout at the reader's pace. */
export async function print(data: string | Uint8Array): Promise<void> {
  await write(process.stdout, data);
}

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value, null, 2)}\n`);
}
