/** As a shell reports a death by SIGPIPE: what a program gets whose reader has gone. */
export const brokenPipeCode = 141;

/** A reader that has enough (`torpor list | head -1`) is no failure to tell of. */
export function endQuietlyOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(brokenPipeCode);
      throw error;
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

/** Writes to stdout at the reader's pace. */
export async function print(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

export async function printJson(value: unknown): Promise<void> {
  await print(`${JSON.stringify(value, null, 2)}\n`);
}
