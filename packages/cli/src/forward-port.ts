import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { type TorporClient, TorporError } from "@torpor/sdk/calls";
import { failWith } from "./failure.ts";

export interface Forwarding {
  /** 0: any free one. */
  readonly local: number;
  readonly port: number;
}

export interface Forward {
  /** The port of this machine. */
  readonly local: number;
  close(): void;
}

/** Carries each connection to a port of this machine to a port in a sandbox; a failed one is told of and closed, the others go on. */
export async function forwardPort(
  client: TorporClient,
  { sandbox, address, local, port }: Forwarding & { readonly sandbox: string; readonly address: string },
): Promise<Forward> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => socket.destroy());
    carry(client, sandbox, port, socket).catch((error: unknown) => {
      failWith(error);
      socket.destroy();
    });
  });
  server.listen(local, address);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new TorporError("invalid_request", `can't listen on ${address}:${local}: ${(error as Error).message}`, {
      hint: `take another port of this machine: torpor port forward ${sandbox} 0:${port}`,
    });
  }
  return {
    local: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function carry(client: TorporClient, sandbox: string, port: number, socket: Socket): Promise<void> {
  const inside = await client.ports.connect(sandbox, port);
  // A connection that is cut at either end is cut at the other: nothing to tell of.
  await Promise.allSettled([pipeline(socket, inside, { end: true }), pipeline(inside, socket, { end: true })]);
  socket.destroy();
  inside.destroy();
}
