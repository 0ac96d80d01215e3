import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Guest, RuntimeSpec } from "@torpor/core";
import { MemoryEngine } from "@torpor/core/testing";
import { createProcessGuest, type ProcessGuest } from "./process-guest.ts";

interface Home {
  readonly directory: string;
  guest: ProcessGuest;
}

/**
 * The in-memory engine with guests that start processes of this host: real streams for tests of HTTP and clients. A pause
 * closes the guest's line and leaves its processes running; a resume opens it again; a fork copies files only.
 */
export class ProcessEngine extends MemoryEngine {
  /** By sandbox: files outlive runtimes. */
  readonly #homes = new Map<string, Home>();
  readonly #sandboxes = new Map<string, string>();
  readonly #captured = new Set<string>();
  /** The line to a guest may be asked for while its runtime starts. */
  readonly #starts = new Map<string, Promise<void>>();

  override boot(spec: RuntimeSpec): Promise<void> {
    return this.#start(spec, async () => {
      await super.boot(spec);
      const directory = this.#homes.get(spec.sandboxId)?.directory ?? (await mkdtemp(join(tmpdir(), "torpor-home-")));
      this.#settle(spec, { directory, guest: createProcessGuest(directory) });
    });
  }

  override restore(...given: Parameters<MemoryEngine["restore"]>): Promise<void> {
    return this.#start(given[0], () => this.#restore(...given));
  }

  async #restore(...[spec, manifest, location]: Parameters<MemoryEngine["restore"]>): Promise<void> {
    await super.restore(spec, manifest, location);
    const source = this.#homes.get(manifest.sandboxId);
    if (source === undefined || manifest.sandboxId === spec.sandboxId) {
      source?.guest.reopen();
      if (source !== undefined) this.#settle(spec, source);
      return;
    }
    const directory = await mkdtemp(join(tmpdir(), "torpor-home-"));
    await cp(source.directory, directory, { recursive: true });
    this.#settle(spec, { directory, guest: createProcessGuest(directory) });
  }

  override async capture(runtimeId: string, location: string): ReturnType<MemoryEngine["capture"]> {
    const capture = await super.capture(runtimeId, location);
    this.#captured.add(runtimeId);
    return capture;
  }

  override async thaw(runtimeId: string): Promise<void> {
    await super.thaw(runtimeId);
    this.#captured.delete(runtimeId);
  }

  override async destroy(runtimeId: string, why: "paused" | "stopped" = "stopped"): Promise<void> {
    const home = this.#homeOf(runtimeId);
    if (why === "paused") home?.guest.close(why);
    await super.destroy(runtimeId, why);
    if (!this.#captured.has(runtimeId)) await home?.guest.destroy();
  }

  override async guest(runtimeId: string): Promise<Guest> {
    await this.#starts.get(runtimeId);
    await super.guest(runtimeId);
    const home = this.#homeOf(runtimeId) as Home;
    const shutdown = async () => {
      await home.guest.destroy();
      this.end(runtimeId, { reason: "exited", exitCode: 0, message: "shut down" });
    };
    return { ...home.guest, shutdown };
  }

  /** Nothing is left of it. */
  async close(): Promise<void> {
    for (const { guest, directory } of this.#homes.values()) {
      await guest.destroy();
      // What hangs up with its terminal may write its last words, as a shell its history.
      await rm(directory, { recursive: true, force: true, maxRetries: 20 });
    }
  }

  async #start({ runtimeId }: RuntimeSpec, work: () => Promise<void>): Promise<void> {
    const start = work();
    this.#starts.set(runtimeId, start);
    await start.finally(() => this.#starts.delete(runtimeId));
  }

  #settle(spec: RuntimeSpec, home: Home): void {
    this.#homes.set(spec.sandboxId, home);
    this.#sandboxes.set(spec.runtimeId, spec.sandboxId);
  }

  #homeOf(runtimeId: string): Home | undefined {
    return this.#homes.get(this.#sandboxes.get(runtimeId) ?? "");
  }
}
