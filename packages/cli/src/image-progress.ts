import type { OnProgress } from "@torpor/sdk/calls";
import { oneLine, say } from "./failure.ts";
import { formatSize } from "./values/size.ts";

const clearLine = "\r\x1b[K";

/** Shows the progress of a work on stderr: one line that changes and goes on a terminal, one line a step elsewhere. */
export async function withProgress<T>(work: (progress: OnProgress) => Promise<T>): Promise<T> {
  if (process.stderr.isTTY !== true) return work(oneLineAStep());
  try {
    return await work(({ text, doneBytes, totalBytes }) => {
      // Short enough for one line of a usual terminal: only that can be cleared.
      process.stderr.write(`${clearLine}${oneLine(text).slice(0, 50)} ${amount(doneBytes, totalBytes)}`);
    });
  } finally {
    process.stderr.write(clearLine);
  }
}

function oneLineAStep(): OnProgress {
  let last = "";
  return ({ step, text }) => {
    if (step === last) return;
    last = step;
    say(oneLine(text));
  };
}

function amount(done: number | undefined, total: number | undefined): string {
  if (done === undefined) return "";
  return total === undefined ? formatSize(done) : `${formatSize(done)} of ${formatSize(total)}`;
}
