import type { TorporClient } from "@torpor/sdk";
import { Follower } from "./follow.ts";

const ready = "ready> ";
/** A background job of the shell: what it prints comes between what is asked. */
const ticks = "(i=0; while :; do i=$((i+1)); echo tick $i; sleep 0.1; done) &";

/** A shell on a terminal that prints numbers all the time and keeps a count in a variable. Nothing of it may be lost or come twice. */
export class TickingTerminal {
  readonly #client: TorporClient;
  readonly #sandbox: string;
  readonly #sessionId: string;
  readonly #pid: number;
  #follower: Follower;
  #round = 0;
  #tick = 0;
  /** Of the streams before: a line that the next one ends. */
  #begun = "";

  private constructor(client: TorporClient, sandbox: string, follower: Follower) {
    this.#client = client;
    this.#sandbox = sandbox;
    this.#follower = follower;
    this.#sessionId = follower.sessionId;
    this.#pid = follower.pid;
  }

  static async start(client: TorporClient, sandbox: string): Promise<TickingTerminal> {
    const request = { argv: ["bash", "--norc"], stdin: true, terminal: { rows: 24, columns: 80 }, env: { PS1: ready } };
    const follower = new Follower(await client.stream(sandbox, request));
    await follower.until(({ text }) => text.includes(ready));
    await follower.say(`${ticks}\n`, (text) => text.includes("tick 1\r\n"));
    return new TickingTerminal(client, sandbox, follower);
  }

  /** Once the sandbox is paused: the stream has ended with that reason, and all before it was there. */
  async paused(): Promise<void> {
    await this.#follower.finished;
    const { end, failure, text } = this.#follower;
    if (end?.reason !== "paused") throw new Error(`the terminal's stream ended with ${JSON.stringify(end)}, ${failure}`);
    this.#take(text);
  }

  /** Attaches where the stream ended; the shell answers, and knows its count. */
  async goOn(): Promise<void> {
    this.#follower = new Follower(await this.#client.attach(this.#sandbox, this.#sessionId, { after: this.#follower.lastSeq }));
    const answer = `round ${++this.#round} ${this.#pid}\r\n`;
    await this.#follower.say("echo round $((round += 1)) $$\n", (text) => text.includes(answer));
  }

  #take(text: string): void {
    const all = this.#begun + text;
    const end = all.lastIndexOf("\n") + 1;
    this.#begun = all.slice(end);
    for (const [, number] of all.slice(0, end).matchAll(/tick (\d+)\r\n/g)) {
      this.#tick++;
      if (Number(number) !== this.#tick) throw new Error(`the terminal printed tick ${number} where ${this.#tick} was next`);
    }
  }
}
