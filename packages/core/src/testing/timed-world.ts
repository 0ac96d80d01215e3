import type { CreateSandboxRequest, SandboxState } from "@torpor/contract";
import { expect } from "vitest";
import type { Failpoint } from "../ports/ports.ts";
import type { Lifecycle } from "../sandboxes.ts";
import { FakeClock } from "./fake-clock.ts";
import { MemoryWorld } from "./memory-world.ts";

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** A world whose time goes on only when told, with one daemon after the other. */
export class TimedWorld {
  readonly clock = new FakeClock({ auto: false });
  readonly world = new MemoryWorld({ clock: this.clock });
  readonly lifecycle!: Lifecycle;
  #kill = (): void => {};
  #quiet = async (): Promise<void> => {};

  static async open(failpoint?: Failpoint): Promise<TimedWorld> {
    const timed = new TimedWorld();
    await timed.restart(failpoint);
    return timed;
  }

  /** The present daemon ends, the next one recovers. */
  async restart(failpoint?: Failpoint): Promise<void> {
    await this.lifecycle?.close();
    await this.#start(failpoint);
  }

  /** As `restart`, but the present one is killed, whatever it is doing. */
  async crash(): Promise<void> {
    this.#kill();
    await this.#quiet();
    await this.#start();
  }

  async #start(failpoint?: Failpoint): Promise<void> {
    this.world.engine.forgetDaemon();
    const { lifecycle, kill, quiet } = this.world.daemon(failpoint);
    Object.assign(this, { lifecycle });
    this.#kill = kill;
    this.#quiet = quiet;
    await this.lifecycle.recover();
  }

  async create(settings: Partial<CreateSandboxRequest> = {}): Promise<void> {
    await this.lifecycle.create({ image: "debian", name: "base", ...settings });
  }

  /** All that this time brings with it has happened when it resolves. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }

  /** Timers and operations go through many steps, none of which waits for the real time. */
  async settled(): Promise<void> {
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    await this.lifecycle.idle();
  }

  async state(): Promise<SandboxState | "gone"> {
    const found = (await this.lifecycle.list()).find(({ name }) => name === "base");
    return found?.state ?? "gone";
  }

  async becomes(state: SandboxState | "gone"): Promise<void> {
    await expect.poll(() => this.state()).toBe(state);
    await this.lifecycle.idle();
  }

  /** An instant so long after the present one. */
  at(ms: number): string {
    return new Date(this.clock.now().getTime() + ms).toISOString();
  }

  exec(sessionId: string): Promise<unknown> {
    return this.lifecycle.guest("base").then(({ sessions }) => sessions.start({ sessionId, argv: ["sleep", "1"], hold: false }));
  }
}
