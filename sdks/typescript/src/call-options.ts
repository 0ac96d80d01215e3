import type { Operation, Sandbox, SandboxState } from "@torpor/contract";

/** Of calls that give what the operation made, and so wait to its end. */
export interface WaitingForEnd {
  /** After so long `TimedOut` is thrown, with `details.operationId`; the operation goes on. Default: never. */
  readonly timeoutMs?: number;
  /** Ends the waiting; the operation goes on. */
  readonly signal?: AbortSignal;
  /** Told of the operation whenever it is in another phase. */
  readonly onProgress?: (operation: Operation) => void;
}

export interface Waiting extends WaitingForEnd {
  /**
   * In place of `timeoutMs`: how long to wait for the operation's end, in ms, at most 600 000; it goes on afterwards and the answer has it as it is.
   * Default: to its end.
   */
  readonly waitMs?: number;
}

export interface SandboxFilter {
  readonly states?: readonly SandboxState[];
  /** All of them have to be there. */
  readonly labels?: Readonly<Record<string, string>>;
}

interface RoomToWaitFor {
  /** How long to wait, in ms, for room on the node where others hold what is asked for. Default 0: `capacity_exceeded` at once. */
  readonly waitCapacityMs?: number;
}

export interface WaitingForRoom extends Waiting, RoomToWaitFor {}
export interface WaitingForRoomAndEnd extends WaitingForEnd, RoomToWaitFor {}

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
