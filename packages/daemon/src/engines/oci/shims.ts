import { setTimeout as passes } from "node:timers/promises";
import type { Hold, RuntimeEnd } from "@torpor/core";
import type { ShimLauncher } from "./launch-shim.ts";
import type { RuntimeDirectories } from "./runtime-directory.ts";
import { ShimClient, ShimGone } from "./shim-client.ts";

/** What is heard of runtimes. */
export interface RuntimeNews {
  ended(runtimeId: string, end: RuntimeEnd): void;
  held(runtimeId: string, hold: Hold | null): void;
}

/** The shims of runtimes, one connection each. A shim that was killed leaves its runtime running: a new one takes it over. */
export class Shims {
  readonly #directories: RuntimeDirectories;
  readonly #launcher: ShimLauncher;
  readonly #news: RuntimeNews;
  readonly #open = new Map<string, Promise<ShimClient>>();
  /** Runtimes whose destruction has begun: a shim that ends then is no news. */
  readonly #leaving = new Set<string>();

  constructor(directories: RuntimeDirectories, launcher: ShimLauncher, news: RuntimeNews) {
    this.#directories = directories;
    this.#launcher = launcher;
    this.#news = news;
  }

  of(runtimeId: string): Promise<ShimClient> {
    let client = this.#open.get(runtimeId);
    if (client === undefined) {
      const opening = this.#connect(runtimeId, () => {
        this.#forget(runtimeId, opening);
        void this.#comeBack(runtimeId);
      });
      opening.catch(() => this.#forget(runtimeId, opening));
      this.#open.set(runtimeId, opening);
      client = opening;
    }
    return client;
  }

  /** Has the shim destroy its runtime, if there is one, then does the rest. */
  async destroy(runtimeId: string, rest: () => Promise<void>): Promise<void> {
    this.#leaving.add(runtimeId);
    try {
      const known = await this.of(runtimeId).catch(() => undefined);
      try {
        await known?.destroy();
      } catch (error) {
        if (!(error instanceof ShimGone)) throw error;
      }
      this.#open.delete(runtimeId);
      known?.close();
      await rest();
    } finally {
      this.#leaving.delete(runtimeId);
    }
  }

  async #connect(runtimeId: string, onClose: () => void): Promise<ShimClient> {
    const directory = this.#directories.at(runtimeId);
    const news = {
      ended: (end: RuntimeEnd) => this.#news.ended(runtimeId, end),
      held: (hold: Hold | null) => this.#news.held(runtimeId, hold),
      closed: onClose,
    };
    const open = () => ShimClient.open(directory.shimSocket, news);
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof ShimGone) || this.#leaving.has(runtimeId) || !(await this.#directories.isLive(runtimeId))) {
        throw error;
      }
      await this.#launcher.launch(directory);
      return open();
    }
  }

  /** After a shim's end: at once, so that what nobody watched is told in time, a hold or the end of one or of the runtime. */
  async #comeBack(runtimeId: string): Promise<void> {
    for (const pauseMs of [0, 200, 1000, 5000]) {
      await passes(pauseMs, undefined, { ref: false });
      try {
        const { state, end } = await (await this.of(runtimeId)).status();
        if (state === "ended" && end !== undefined) {
          this.#news.ended(runtimeId, end);
        }
        return;
      } catch {
        if (this.#leaving.has(runtimeId) || !(await this.#directories.isLive(runtimeId))) {
          return;
        }
        // No shim can be started now. At last the next call tries again, and says why.
      }
    }
  }

  #forget(runtimeId: string, client: Promise<ShimClient>): void {
    if (this.#open.get(runtimeId) === client) {
      this.#open.delete(runtimeId);
    }
  }
}
