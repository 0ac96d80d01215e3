import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Times of the steps of one call, in ms. */
export type Steps = Readonly<Record<string, number>>;

/** Sandboxes by hand (floor.py): what every figure of ours is compared with. */
export class Floor {
  readonly #process: ChildProcess;
  readonly #answers: AsyncIterator<string>;

  private constructor(process: ChildProcess) {
    this.#process = process;
    if (process.stdout === null) throw new Error("the floor has no output");
    this.#answers = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  static async open(runsc: string, rootfs: string): Promise<Floor> {
    const floor = new Floor(
      spawn("python3", [fileURLToPath(new URL("floor.py", import.meta.url))], { stdio: ["pipe", "pipe", "inherit"] }),
    );
    await floor.call("open", { dir: mkdtempSync(path.join(tmpdir(), "torpor-floor-")), runsc, rootfs });
    return floor;
  }

  async call<T = Steps>(call: string, fields: object = {}): Promise<T> {
    this.#process.stdin?.write(`${JSON.stringify({ call, ...fields })}\n`);
    const line = await this.#answers.next();
    if (line.done === true) throw new Error("the floor ended");
    const answer = JSON.parse(line.value) as { result?: T; error?: string };
    if (answer.error !== undefined) throw new Error(`floor: ${answer.error}`);
    return answer.result as T;
  }

  async close(): Promise<void> {
    await this.call("close");
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }
}

/** The sum of some steps. */
export function sum(steps: Steps, ...names: string[]): number {
  return names.reduce((total, name) => {
    const ms = steps[name];
    if (ms === undefined) throw new Error(`the floor has no step ${name}: ${Object.keys(steps).join(", ")}`);
    return total + ms;
  }, 0);
}
