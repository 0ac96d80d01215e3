import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TorporError } from "@torpor/contract";
import type { GuestPorts } from "@torpor/core";

/** This host's own loopback in place of a sandbox's. */
export const hostPorts: GuestPorts = {
  async connect(port, input, signal) {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    signal?.addEventListener("abort", () => socket.destroy(), { once: true });
    try {
      await once(socket, "connect");
    } catch (error) {
      throw new TorporError("port_closed", `nothing listens on port ${port} in the sandbox`, { cause: error });
    }
    pipeline(Readable.from(input, { objectMode: false }), socket).catch(() => socket.destroy());
    return { content: socket };
  },
};
