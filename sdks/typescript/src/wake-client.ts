import type { CreatedWake, CreateWakeRequest, WakeList } from "@torpor/contract";
import type { Transport } from "./transport.ts";

/** What resumes sandboxes by itself. `id` is a sandbox's id or name. */
export class WakeClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Of a URL the answer has the path, and the secret if calls have to be signed: nobody is told them again. */
  create(id: string, body: CreateWakeRequest): Promise<CreatedWake> {
    return this.#transport.json("createWake", { params: { id }, body });
  }

  list(id: string): Promise<WakeList> {
    return this.#transport.json("listWakes", { params: { id } });
  }

  remove(id: string, wid: string): Promise<void> {
    return this.#transport.json("removeWake", { params: { id, wid } });
  }
}
