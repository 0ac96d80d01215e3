import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { TorporError } from "@torpor/contract";
import type { RuntimeDirectory } from "./runtime-directory.ts";

/** The sandbox that was just launched has the CPUs for so long: for the greeting and a first command. */
const spareDelayMs = 50;

/**
 * Starts shims. One is ready ahead: its start, with a mount namespace of its own, takes as long (20 ms) as mounts and network of a runtime
 * together. Each is in a session of its own, so that the daemon's end is not its end; a spare one ends with the daemon.
 */
export class ShimLauncher {
  readonly #binary: string;
  readonly #dataDirectory: string;
  #spare: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Of the host's loop mounts a shim keeps those below the data directory alone. */
  constructor(binary: string, dataDirectory: string) {
    this.#binary = binary;
    this.#dataDirectory = dataDirectory;
  }

  /** Makes a shim ready when the last of the launches at work has ended: who makes sandboxes one after the other waits for none. */
  prepareSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.prepare(), spareDelayMs).unref();
  }

  /** Makes a shim ready for the next launch. */
  prepare(): void {
    if (this.#spare === undefined && !this.#closed) {
      const spare = this.#start();
      this.#spare = spare;
      spare.once("exit", () => {
        if (this.#spare === spare) {
          this.#spare = undefined;
        }
      });
    }
  }

  /** Resolves when a shim listens on the directory's socket. */
  async launch(directory: RuntimeDirectory): Promise<void> {
    const shim = this.#spare ?? this.#start();
    this.#spare = undefined;
    const ready = shim.stdio[3] as Readable;
    const answered = once(ready, "data").then(() => "ready" as const);
    const ended = once(shim, "exit").then(([code]) => `ended with code ${code}`);
    // Nothing else may keep the daemon awake for the answer: at its start it waits for shims before it listens.
    shim.ref();
    shim.stdin?.end(`${directory.path}\n`);
    const outcome = await Promise.race([answered, ended]);
    shim.unref();
    ready.destroy();
    answered.catch(() => {});
    if (outcome !== "ready") {
      throw new TorporError("engine_failed", `The shim ${this.#binary} ${outcome} before it was ready: ${await firstWords(directory)}`);
    }
  }

  /** Ends the spare one; those in use go on. Its mount namespace has the pool's mount too, so it must be gone before that can be. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare !== undefined && spare.exitCode === null && spare.signalCode === null) {
      const ended = once(spare, "exit");
      spare.ref();
      spare.stdin?.end();
      await ended;
    }
  }

  #start(): ChildProcess {
    const shim = spawn(this.#binary, ["serve", this.#dataDirectory], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...failpoint() },
      cwd: "/",
    });
    // A start that fails is told by "exit" too, or by "error" alone when there is no such program: as an exit for whoever waits.
    shim.on("error", () => shim.emit("exit", null, null));
    shim.stdin?.on("error", () => {});
    shim.unref();
    (shim.stdin as unknown as { unref?(): void } | null)?.unref?.();
    (shim.stdio[3] as unknown as { unref?(): void }).unref?.();
    return shim;
  }
}

/** For tests of what a shim leaves that ends at a given step (native/internal/shim/failpoint.go). */
function failpoint(): { TORPOR_SHIM_FAILPOINT?: string } {
  const given = process.env.TORPOR_SHIM_FAILPOINT;
  return given === undefined ? {} : { TORPOR_SHIM_FAILPOINT: given };
}

/** The directory goes with the runtime, so the message has what its log says: the reason, or a panic's first line. */
async function firstWords(directory: RuntimeDirectory): Promise<string> {
  const text = await readFile(directory.shimLog, "utf8").catch(() => "");
  return text.trim().split("\n", 1)[0]?.slice(0, 500) || "it said nothing";
}
