import type { OnProgress } from "@torpor/sdk";
import { oneLine, say } from "./failure.ts";
import { formatSize } from "./values/size.ts";

/** Shows progress on stderr: one line that changes on a terminal, one line a step elsewhere. */
export function createProgress(): OnProgress {
  let last = "";
  return ({ step, text, doneBytes, totalBytes }) => {
    if (process.stderr.isTTY === true) {
      process.stderr.write(`\r\x1b[K${oneLine(text).slice(0, 60)} ${amount(doneBytes, totalBytes)}`);
      return;
    }
    if (step === last) return;
    last = step;
    say(oneLine(text));
  };
}

function amount(done: number | undefined, total: number | undefined): string {
  if (done === undefined) return "";
  return total === undefined ? formatSize(done) : `${formatSize(done)} of ${formatSize(total)}`;
}
