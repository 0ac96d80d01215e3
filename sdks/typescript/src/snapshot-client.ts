import type { Snapshot, UpdateSnapshotRequest } from "@torpor/contract";
import { refuseUnknown } from "./refuse-unknown.ts";
import type { Transport } from "./transport.ts";

/** Snapshots of a daemon. `id` is a snapshot's id or name; `TorporClient.snapshot` makes one. */
export class SnapshotClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(): Promise<Snapshot[]> {
    return (await this.#transport.json<{ snapshots: Snapshot[] }>("listSnapshots")).snapshots;
  }

  get(id: string): Promise<Snapshot> {
    return this.#transport.json("getSnapshot", { params: { nid: id } });
  }

  /** Labels are merged with those it has; null takes one away. */
  update(id: string, body: UpdateSnapshotRequest): Promise<Snapshot> {
    return this.#transport.json("updateSnapshot", { params: { nid: id }, body });
  }

  /** What was made from it stays as it is. */
  async remove(id: string, options: { force?: boolean } = {}): Promise<Snapshot> {
    refuseUnknown(options, { force: true });
    return this.#transport.json("removeSnapshot", { params: { nid: id }, query: options });
  }
}
