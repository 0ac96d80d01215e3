import type { Capabilities, ErrorBody, Info, Resources } from "@torpor/contract";
import type { CheckpointManifest, CheckpointPart } from "./checkpoints.ts";
import type { Guest } from "./guest.ts";
import type { NetworkLease } from "./network.ts";

/** Everything a runtime is made from. */
export interface RuntimeSpec {
  readonly runtimeId: string;
  readonly sandboxId: string;
  readonly hostname: string;
  /** As `Disks.locate` and `Images.locate` give them. */
  readonly disk: string;
  readonly image: string;
  readonly resources: Resources;
  /** null: loopback only. */
  readonly network: NetworkLease | null;
}

/** How a runtime is, or how it ended. */
export type RuntimeStatus =
  | { readonly state: "absent" }
  | { readonly state: "running" }
  | { readonly state: "frozen" }
  /** Its processes are gone; host resources may still be held until `destroy`. */
  | { readonly state: "ended"; readonly cause: RuntimeEnd };

export interface RuntimeEnd {
  /**
   * exited: PID 1 ended by itself; oom: the host's limit; killed: from outside; lost: nobody saw the end; gone: nothing of it is on the host, as
   * after a reboot.
   */
  readonly reason: "exited" | "oom" | "killed" | "lost" | "gone";
  readonly exitCode: number | null;
  readonly message: string;
}

/**
 * A runtime that the engine keeps from going on: its pool has next to no room left, and what it writes would be told of success and lost. It goes
 * on by itself when there is room again. It counts as running.
 */
export interface Hold {
  readonly since: string;
  /** Room on the pool when it began. */
  readonly freeBytes: number;
  /** Why not everything that it had written before is on the pool. Absent: it is. */
  readonly lost?: string;
}

/** What a runtime uses now. */
export interface RuntimeStats {
  readonly memoryBytes: number;
  /** Since it began. */
  readonly cpuMs: number;
  /** null: it did not say in time, as while it is frozen. */
  readonly processes: number | null;
  /** Since it began; null: it has no network. */
  readonly network: { readonly receivedBytes: number; readonly sentBytes: number } | null;
}

/** What a process in a sandbox asks for it. Nothing of it is checked. */
export interface SelfRequest {
  /** Random, and the same each time that the request is told of. */
  readonly id: string;
  readonly verb: string;
  /** As JSON. */
  readonly options: string;
}

export type SelfAnswer = { readonly result: Readonly<Record<string, unknown>> } | ErrorBody;

export interface CaptureOptions {
  /** It stays frozen until the checkpoint is sealed: write-out and hashes can begin while it is written. Default: false, it may go on before. */
  readonly forSeal?: boolean;
}

/** A checkpoint as the engine left it in the place it was given: not sure to be on the disk yet. */
export interface Capture {
  /** With their hashes if it was for a seal and the engine could make them meanwhile. */
  readonly parts: readonly (Omit<CheckpointPart, "hash"> & Partial<Pick<CheckpointPart, "hash">>)[];
  readonly engine: CheckpointManifest["engine"];
  readonly guest: CheckpointManifest["guest"];
  readonly cpu: CheckpointManifest["cpu"];
  readonly restore: CheckpointManifest["restore"];
}

/**
 * Runs sandboxes. Runtime ids are given by the caller, so every call can be repeated after a crash.
 * What an engine can't do it refuses with `capability_unsupported`, naming itself; it never does something weaker.
 */
export interface Engine {
  readonly name: string;
  describe(): Promise<Info["engine"] & { readonly capabilities: Capabilities["capabilities"] }>;
  /** Refuses resources below the engine's minimum (invalid_request) before anything is made. */
  validate(resources: Resources): void;
  /** Boots from the disk. Resolves when the guest can be spoken to. Leaves nothing behind when it fails. */
  boot(spec: RuntimeSpec): Promise<void>;
  /**
   * Brings a checkpoint back as a new runtime. Its parts are verified first: `checkpoint_corrupt` names the part,
   * `checkpoint_incompatible` the difference; the engine is not started then. Leaves nothing behind when it fails, and
   * never changes the checkpoint.
   */
  restore(spec: RuntimeSpec, manifest: CheckpointManifest, location: string): Promise<void>;
  inspect(runtimeId: string): Promise<RuntimeStatus>;
  /** Memory that the runtime holds on the host, for capacity checks and for the figure "released". */
  memoryBytes(runtimeId: string): Promise<number>;
  /** What it uses now, by the host's own figures. Never waits for a guest that does not answer. */
  stats(runtimeId: string): Promise<RuntimeStats>;
  /** What its programs had written when the call came is in the disk's image when it resolves; they go on. */
  sync(runtimeId: string): Promise<void>;
  /** Nothing in it runs any more; a frozen one stays frozen. */
  freeze(runtimeId: string): Promise<void>;
  /** Goes on; a running one stays running. */
  thaw(runtimeId: string): Promise<void>;
  /** Writes the memory of a frozen runtime into the location, and syncs its disk. It stays frozen. */
  capture(runtimeId: string, location: string, options?: CaptureOptions): Promise<Capture>;
  /** Writes what a frozen runtime wrote to its disk into the block image: `capture` without the memory. */
  syncDisk(runtimeId: string): Promise<void>;
  /** Hashes what was captured there; the runtime may have ended since. Apart from the capture, since a fork's source need not stay frozen for it. */
  digest(runtimeId: string, location: string, parts: Capture["parts"]): Promise<CheckpointPart[]>;
  /**
   * Kills what still runs and frees every host resource: gone when it resolves. Any state, unknown ids, repeats: fine. `why` is how the line to its
   * guest ends, if one is open; default `stopped`.
   */
  destroy(runtimeId: string, why?: "paused" | "stopped"): Promise<void>;
  /** Runtimes that hold anything on this host, whether or not a record knows them. */
  list(): Promise<string[]>;
  /**
   * The line to a runtime's guest; the same object until it is closed or the runtime ends. Of one whose start was asked for it comes as soon as it
   * can be had: calls on it wait for the guest, and fail with a start that fails.
   */
  guest(runtimeId: string): Promise<Guest>;
  /** Tells of each runtime that ended without `destroy`; once, also if it ended while no daemon was there. */
  onEnd(listener: (runtimeId: string, end: RuntimeEnd) => void): void;
  /** How a running runtime is held, as far as was heard; `inspect` asks. null: it is not. Calls to the guest of a held one fail with `disk_full`. */
  held(runtimeId: string): Hold | null;
  /** Tells of each hold, of one that began without a daemon once it is inspected; and with null of its end. */
  onHold(listener: (runtimeId: string, hold: Hold | null) => void): void;
  /**
   * Tells of each request of a process in a runtime that was greeted, and takes the answer to it. It is told of again, after a restart of the
   * daemon or a resume, until it is answered. A pause is answered by the resume, a fork in a child by its being one.
   */
  onRequest(listener: (sandboxId: string, request: SelfRequest) => Promise<SelfAnswer>): void;
  /** What the guest wrote to its own stdout and stderr, and the engine about it, newest last, at most `limitBytes`. */
  logs(runtimeId: string, limitBytes: number): Promise<string>;
}
