import { connect, type Socket } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { Guest, GuestFiles, GuestPorts, GuestSessions, Identity } from "@torpor/core";
import { type CloseReason, fromGuestError, heldError, type LineState, refuseIfClosed } from "./guest-error.ts";
import { createGuestFiles } from "./guest-files.ts";
import { createGuestPorts } from "./guest-ports.ts";
import { followRequests, type OnRequest } from "./guest-requests.ts";
import { createGuestSessions } from "./guest-sessions.ts";
import { Guest as GuestService } from "./protocol/torpor/guest/v1/guest_pb.ts";

/** Of this daemon; grows by one with each change of guest.proto that a guest has to know of. */
const protocol = 2;
const never = 2 ** 31 - 1;
/** A guest that runs answers within a few. */
const releaseAgainMs = 500;

/**
 * The line to one guest: one HTTP/2 connection through the shim's socket. It does not reconnect: a new connection has to say Hello
 * first, so `GuestLines` opens a new line and says it again.
 */
export class GuestLine implements Guest {
  readonly sessions: GuestSessions;
  readonly files: GuestFiles;
  readonly ports: GuestPorts;
  readonly #client;
  readonly #state: LineState = { closed: undefined, held: false };
  #onHold = Promise.withResolvers<never>();
  readonly #manager: Http2SessionManager;
  readonly #onRequest: OnRequest;
  #follows = false;
  /** What it is when nobody has closed the line and it ends. */
  #atEnd: CloseReason = "lost";
  #socket: Socket | undefined;
  #identity: Identity | undefined;

  constructor(socketPath: string, onRequest: OnRequest) {
    this.#onRequest = onRequest;
    this.#onHold.promise.catch(() => {});
    this.#manager = new Http2SessionManager(
      "http://guest",
      { idleConnectionTimeoutMs: never },
      { createConnection: () => this.#connect(socketPath), settings: { initialWindowSize: windowBytes } },
    );
    const transport = createConnectTransport({
      httpVersion: "2",
      baseUrl: "http://guest",
      sessionManager: this.#manager,
      useBinaryFormat: true,
    });
    this.#client = createClient(GuestService, transport);
    this.sessions = createGuestSessions(transport, this.#manager, this.#state);
    this.files = createGuestFiles(transport, this.#state);
    this.ports = createGuestPorts(transport, this.#state);
  }

  get closed(): boolean {
    return this.#state.closed !== undefined;
  }

  /** What the guest was told last, on this line. */
  get identity(): Identity | undefined {
    return this.#identity;
  }

  async hello(identity: Identity): Promise<{ bootId: string; version: string }> {
    this.#identity = identity;
    return this.#guarded(async () => {
      const {
        bootId,
        version,
        protocol: theirs,
      } = await this.#client.hello({
        protocol,
        sandboxId: identity.sandboxId,
        name: identity.name,
        hostname: identity.hostname,
        generation: BigInt(identity.generation),
        unixNanos: BigInt(Date.now()) * 1_000_000n,
        origin: identity.origin,
        env: { ...identity.env },
        workdir: identity.workdir,
        user: identity.user,
        parentId: identity.parentId ?? "",
        forkIndex: identity.fork?.index ?? 0,
        forkCount: identity.fork?.count ?? 0,
        selfControl: identity.selfControl,
        memoryLimitBytes: BigInt(identity.memoryBytes),
        pidsLimit: identity.pids,
        address: identity.address ?? "",
        resolver: identity.resolver ?? "",
      });
      this.#state.protocol = theirs;
      if (!this.#follows) {
        this.#follows = true;
        void followRequests(this.#client, identity.sandboxId, this.#onRequest);
      }
      return { bootId, version };
    });
  }

  async prepare(): Promise<void> {
    await this.#guarded(() => this.#client.prepare({}));
  }

  /** A guest of an earlier version takes it for a freeze: it lets no sessions in either, and says of the ends only how they came. */
  async prepareStop(): Promise<void> {
    this.#atEnd = "stopped";
    await this.#guarded(() => this.#client.prepare({ stop: true }));
  }

  /**
   * Asked again until it is answered: what comes while the engine writes its memory lies in the engine then, and nothing tells the guest of it before
   * more comes (gVisor's save takes what is in a pipe, and wakes nobody who waits for it).
   */
  async release(): Promise<void> {
    await this.#guarded(async () => {
      const again = setInterval(() => void this.#client.release({}).catch(() => {}), releaseAgainMs);
      try {
        await this.#client.release({});
      } finally {
        clearInterval(again);
      }
    });
  }

  /** Dirty files to the disk; nothing is kept from going on. */
  async flush(): Promise<void> {
    await this.#guarded(() => this.#client.flush({}));
  }

  /** How many processes run; null when it does not say in time, as while it is frozen. */
  async processes(timeoutMs: number): Promise<number | null> {
    return this.#client.stats({}, { timeoutMs }).then(
      ({ processes }) => processes,
      () => null,
    );
  }

  async shutdown(graceMs: number): Promise<void> {
    this.#atEnd = "stopped";
    await this.#guarded(() => this.#client.shutdown({ graceMs }));
  }

  /** Calls to PID 1 itself fail while it is held, those at work too; streams go on afterwards. */
  hold(held: boolean): void {
    this.#state.held = held;
    if (!held) return;
    this.#onHold.reject(heldError());
    this.#onHold = Promise.withResolvers();
    this.#onHold.promise.catch(() => {});
  }

  close(reason: CloseReason): void {
    this.#state.closed ??= reason;
    this.#manager.abort();
    this.#socket?.destroy();
  }

  #connect(socketPath: string): Socket {
    const socket = connect(socketPath);
    // A second connection is the library's own idea: the guest refuses all its calls, since nobody says Hello on it.
    this.#socket = socket;
    socket.once("close", () => {
      this.#state.closed ??= this.#atEnd;
    });
    return socket;
  }

  async #guarded<T>(call: () => Promise<T>): Promise<T> {
    refuseIfClosed(this.#state);
    try {
      return await Promise.race([call(), this.#onHold.promise]);
    } catch (error) {
      throw fromGuestError(error, this.#state);
    }
  }
}

/** HTTP/2's default window of 64 KiB would make bulk data wait for a round trip each 64 KiB. */
const windowBytes = 4 * 2 ** 20;
