import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { TorporClient } from "@torpor/sdk";
import { daemonEnvironment, daemonFlags } from "../../../packages/cli/src/daemon/launch.ts";
import { leftBehind } from "./host-state.ts";
import { KeptPool } from "./kept-pool.ts";
import { removeSandbox } from "./remove-all.ts";
import { testImage } from "./test-image.ts";

const main = fileURLToPath(new URL("../../../packages/daemon/src/main.ts", import.meta.url));

export interface TestDaemonOptions {
  /** An empty directory, removed with the rest. Default: one of its own. */
  readonly data?: string;
  /** More of torpord's command line. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A real torpord as a process of its own on a data directory of its own. */
export class TestDaemon {
  #data: string;
  readonly #options: TestDaemonOptions;
  #process: ChildProcess | undefined;
  #client: TorporClient;

  private constructor(data: string, options: TestDaemonOptions) {
    this.#data = data;
    this.#options = options;
    this.#client = new TorporClient({ socket: this.socket });
  }

  /** With the image `debian` unless `image` is false. */
  static async start(options: TestDaemonOptions & { readonly image?: boolean } = {}): Promise<TestDaemon> {
    const daemon = new TestDaemon(options.data ?? mkdtempSync(path.join(tmpdir(), "torpor-system-")), options);
    const kept = options.image === false ? undefined : await KeptPool.of(poolSize(options.args));
    const taken = kept?.take(daemon.data) ?? true;
    await daemon.launch().catch(async (error: unknown) => {
      await rm(daemon.data, { recursive: true, force: true });
      throw error;
    });
    if (kept !== undefined && !taken) await daemon.#import(kept);
    return daemon;
  }

  async #import(kept: KeptPool): Promise<void> {
    await this.client.images.import({ path: await testImage(), reference: "debian" });
    await this.terminate();
    kept.keep(this.data);
    await this.launch();
  }

  get data(): string {
    return this.#data;
  }

  get socket(): string {
    return path.join(this.data, "torpord.sock");
  }

  get client(): TorporClient {
    return this.#client;
  }

  get instance(): string {
    return (JSON.parse(readFileSync(path.join(this.data, "instance.json"), "utf8")) as { instance: string }).instance;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  log(): string {
    return readFileSync(path.join(this.data, "torpord.log"), "utf8");
  }

  /** Starts the process and resolves when it answers; rejects with its words when it ends before. */
  async launch(): Promise<void> {
    const log = openSync(path.join(this.data, "torpord.log"), "a");
    const child = spawn(process.execPath, [...daemonFlags, main, "--data", this.data, "--ready-fd", "3", ...(this.#options.args ?? [])], {
      stdio: ["ignore", log, log, "pipe"],
      env: { ...process.env, ...daemonEnvironment, ...this.#options.env },
    });
    closeSync(log);
    this.#process = child;
    const ready = once(child.stdio[3] as Readable, "data").then(() => true);
    const ended = once(child, "exit").then(() => false);
    if (!(await Promise.race([ready, ended]))) {
      this.#process = undefined;
      throw new Error(`torpord did not start: ${this.log().slice(-2000)}`);
    }
  }

  /** As a crash would: SIGKILL. Sandboxes go on. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** While no process is at work: the data directory is at another place now, as on another host. */
  movedTo(data: string): void {
    this.#data = data;
    this.#client = new TorporClient({ socket: this.socket });
  }

  async terminate(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Removes every sandbox, ends the daemon, and fails if anything of it is left on the host. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process === undefined) {
      await this.launch();
    }
    const { instance } = this;
    try {
      for (const { id } of await this.client.list()) {
        await removeSandbox(this.client, id);
      }
    } finally {
      // Also when a removal fails: that is for the test to tell of, and the daemon is not to be left.
      await this.terminate();
      this.#client.close();
    }
    const left = await leftBehind([this.data, instance]);
    await rm(this.data, { recursive: true, force: true });
    if (left.length > 0) {
      throw new Error(`left behind on the host:\n${left.join("\n")}`);
    }
  }

  /** Resolves when the daemon has ended by itself. */
  async ended(): Promise<void> {
    await this.#end(null);
  }

  async #end(signal: NodeJS.Signals | null): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      if (signal !== null) {
        child.kill(signal);
      }
      await exited;
    }
    // Its connections are dead; the next daemon on the socket gets new ones.
    this.#client.close();
    this.#client = new TorporClient({ socket: this.socket });
  }
}

function poolSize(args: readonly string[] = []): string {
  const at = args.indexOf("--pool-size");
  return at < 0 ? "default" : String(args[at + 1]);
}
