import { globSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { eventually } from "./inside.ts";
import { hostRuntime, signalIfThere } from "./runtime.ts";
import { stoppedAt } from "./stopped-at.ts";
import type { TestDaemon } from "./test-daemon.ts";

/**
 * A pause that stands still in its capture, however short that is: its engine is stopped before it is asked for its memory, and writes nothing until
 * `goOn`. `armed` is the daemon's TORPOR_FAILPOINT.
 */
export async function stoppedInCapture(
  daemon: TestDaemon,
  armed: string,
  sandbox: string,
): Promise<{ readonly outcome: Promise<unknown>; readonly enginePid: number; readonly shimPid: number; readonly goOn: () => void }> {
  const { enginePid, shimPid } = await hostRuntime(daemon.client, daemon.instance, sandbox);
  const pausing = await stoppedAt(daemon, armed, "pause.capture", () => daemon.client.pause(sandbox));
  process.kill(enginePid, "SIGSTOP");
  const goOn = (): void => void signalIfThere(enginePid, "SIGCONT");
  onTestFinished(goOn);
  const outcome = pausing.goOn();
  await eventually(
    async () => globSync(path.join(daemon.data, "pool/checkpoints/*.partial/pages.img")),
    (files) => files.length === 1,
  );
  return { outcome, enginePid, shimPid, goOn };
}
