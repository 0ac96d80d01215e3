import { readFileSync, writeFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { eventually } from "./inside.ts";
import type { TestDaemon } from "./test-daemon.ts";

/** Has the daemon stop itself at a step of what is asked; `goOn` lets it go on and gives the call's outcome. `armed` is its TORPOR_FAILPOINT. */
export async function stoppedAt(
  daemon: TestDaemon,
  armed: string,
  failpoint: string,
  ask: () => Promise<unknown>,
): Promise<{ goOn: () => Promise<unknown> }> {
  writeFileSync(armed, `${failpoint}:stop`);
  const outcome = ask().catch((error: unknown) => error);
  await eventually(
    async () => readFileSync(`/proc/${daemon.pid}/status`, "utf8"),
    (text) => /^State:\s+T/m.test(text),
  );
  const resume = () => void process.kill(daemon.pid, "SIGCONT");
  onTestFinished(resume);
  return {
    goOn: () => {
      resume();
      return outcome;
    },
  };
}
