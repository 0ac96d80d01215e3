import type { Wake } from "@torpor/contract";

export interface WakeRecord extends Wake {
  readonly version: number;
  /** By which the one who calls its URL is known; the token itself is not kept. */
  readonly tokenHash: string | null;
  readonly secret: string | null;
}

/** What a call to a URL brought along. */
export interface WakeCall {
  readonly method: string;
  /** Of its address, without the question mark. */
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** base64 */
  readonly body: string;
}

/** One waking that the sandbox has not been told of yet. */
export interface WakeupRecord {
  readonly id: string;
  readonly version: number;
  readonly sandboxId: string;
  readonly wake: Pick<Wake, "id" | "kind" | "label">;
  /** When it should have come, and when it did. */
  readonly dueAt: string;
  readonly firedAt: string;
  /** stored: the sandbox has nothing of it, or a part; prepared: it has all of it, hidden; published: programs in it may see it. */
  readonly stage: "stored" | "prepared" | "published";
  /** Only of a call to a URL. */
  readonly call: WakeCall | null;
}

/** A delivery with its place in the order of all; places are never given twice. */
export interface PlacedWakeup extends WakeupRecord {
  readonly seq: number;
}

/** The part of the store that keeps wakes. They are changed by commits, with versions like everything else; a delivery's `call` is written once. */
export interface WakeStore {
  /** Of one sandbox or of all, oldest first. */
  listWakes(sandboxId?: string): Promise<WakeRecord[]>;
  findWake(id: string): Promise<WakeRecord | undefined>;
  findWakeByToken(tokenHash: string): Promise<WakeRecord | undefined>;
  /** The oldest one of a sandbox. */
  nextWakeup(sandboxId: string): Promise<PlacedWakeup | undefined>;
  /** How many of each sandbox there are. */
  countWakeups(): Promise<ReadonlyMap<string, number>>;
}
