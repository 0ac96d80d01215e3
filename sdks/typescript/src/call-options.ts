import type { Operation, Sandbox, SandboxState } from "@torpor/contract";

export interface Waiting {
  /**
   * How long to wait for the operation's end, in ms, at most 600 000; it goes on afterwards and the answer has it as it is.
   * Default: to its end.
   */
  readonly waitMs?: number;
  /** In place of `waitMs`: after so long `TimedOut` is thrown, with `details.operationId`; the operation goes on. */
  readonly timeoutMs?: number;
  /** Ends the waiting; the operation goes on. */
  readonly signal?: AbortSignal;
  /** Told of the operation whenever it is in another phase. */
  readonly onProgress?: (operation: Operation) => void;
}

export interface SandboxFilter {
  readonly states?: readonly SandboxState[];
  /** All of them have to be there. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface WaitingForRoom extends Waiting {
  /** How long to wait, in ms, for room on the node where others hold what is asked for. Default 0: `capacity_exceeded` at once. */
  readonly waitCapacityMs?: number;
}

export interface DiffOptions {
  /** Another sandbox. Default: from its image to the sandbox. */
  readonly with?: string;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface SandboxPage {
  readonly sandboxes: Sandbox[];
  /** null: there are no more. */
  readonly next: string | null;
}
