import type { Session } from "@torpor/contract";
import type { Transport } from "./transport.ts";

/** Supervised sessions: what their processes are to be. Each resolves when it is so. */
export class SupervisedClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Its process runs; one that was given up is tried again. */
  start(id: string, sid: string): Promise<Session> {
    return this.#transport.json("startSupervised", { params: { id, sid } });
  }

  /** Its process has ended, and stays so. */
  stop(id: string, sid: string): Promise<Session> {
    return this.#transport.json("stopSupervised", { params: { id, sid } });
  }

  /** Another process of it runs. */
  restart(id: string, sid: string): Promise<Session> {
    return this.#transport.json("restartSupervised", { params: { id, sid } });
  }
}
