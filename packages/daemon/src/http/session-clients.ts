import type { WebSocket } from "@fastify/websocket";
import { closeCodes, frameKinds, type TerminalSize } from "@torpor/contract";
import { encodeJson } from "./session-frames.ts";

/** A connection to a session. */
interface Client {
  readonly socket: WebSocket;
  readonly writes: boolean;
  /** Its own name, if it has one. */
  readonly client: string | undefined;
}

/** Who is connected to which session, as far as they concern each other. */
export class SessionClients {
  readonly #of = new Map<string, Set<Client>>();

  /**
   * From now on the client counts, until its connection ends. One that it had before ends now: a network that is gone tells nobody, and the system finds
   * out after a quarter of an hour.
   */
  join(place: string, client: Client): void {
    const all = this.#of.get(place) ?? new Set();
    for (const earlier of [...all]) if (earlier.client !== undefined && earlier.client === client.client) earlier.socket.terminate();
    this.#of.set(place, all.add(client));
    client.socket.once("close", () => {
      all.delete(client);
      if (all.size === 0 && this.#of.get(place) === all) this.#of.delete(place);
    });
  }

  /** The terminal has another size: everyone else's picture of it has to follow. */
  resized(place: string, size: TerminalSize, by?: WebSocket): void {
    const frame = encodeJson(frameKinds.resized, size);
    for (const { socket } of this.#of.get(place) ?? []) if (socket !== by) socket.send(frame);
  }

  /** Ends all connections that may write. */
  kick(place: string): void {
    for (const { socket, writes } of [...(this.#of.get(place) ?? [])]) {
      if (writes) socket.close(closeCodes.kicked, "another client took the session over");
      if (socket.isPaused) socket.resume();
    }
  }
}

/** One sandbox's session: the child of a fork has sessions of the same ids. */
export const placeOf = (sandboxId: string, sessionId: string): string => `${sandboxId} ${sessionId}`;
