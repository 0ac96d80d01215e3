import type { WaitingRoom } from "./capacity.ts";
import type { Line } from "./line.ts";
import type { Runner } from "./operations/runner.ts";
import type { Ports } from "./ports/ports.ts";
import type { OperationRecord } from "./ports/store.ts";

/** Where calls are dealt with: the world, the operations at work, and who waits for which sandbox. */
export interface Desk {
  readonly room: WaitingRoom;
  readonly ports: Ports;
  readonly runner: Runner;
  readonly line: Line;
}

/** What a call led to. `ended` resolves with the operation's last record; undefined: it has ended, or isn't at work in this process. */
export interface Asking {
  readonly sandboxId: string;
  readonly operation: OperationRecord;
  readonly ended: Promise<OperationRecord> | undefined;
}
