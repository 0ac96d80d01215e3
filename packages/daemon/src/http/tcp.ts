import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { TorporError } from "@torpor/contract";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { type ListenAddress, type Listening, urlHost } from "../listening.ts";
import { Hosts } from "./hosts.ts";
import { PortHosts } from "./port-hosts.ts";
import type { Served } from "./served.ts";
import { createHttpServer } from "./server.ts";

/** The API and the page at an address of TCP. */
export interface TcpServer {
  /** http://host:port, once it listens. */
  readonly url: string | undefined;
  listen(): Promise<void>;
  close(): Promise<void>;
}

export interface TcpOptions {
  readonly listening: Listening;
  /** With the page's built files. */
  readonly page: string;
  readonly instance: string;
  readonly logger?: FastifyBaseLogger;
}

/** One for each address. None listens yet. */
export async function createTcpServers(served: Served, { listening, page, instance, logger }: TcpOptions): Promise<TcpServer[]> {
  const tls = listening.tls && { cert: await readPem(listening.tls.cert), key: await readPem(listening.tls.key) };
  const servers: TcpServer[] = [];
  for (const address of listening.addresses) {
    const protocol = tls === undefined ? "http" : "https";
    const hosts = new Hosts({ host: address.host, protocol, publicUrl: listening.publicUrl, allowHosts: listening.allowHosts });
    const app = await createHttpServer(served, {
      ...(logger === undefined ? {} : { logger }),
      tcp: { page, hosts, portHosts: new PortHosts(listening), instance, ...(tls === undefined ? {} : { tls }) },
    });
    servers.push(serverOf(app, address, protocol));
  }
  return servers;
}

function serverOf(app: FastifyInstance, address: ListenAddress, protocol: "http" | "https"): TcpServer {
  return {
    get url() {
      const bound = app.server.address() as AddressInfo | null;
      return bound === null ? undefined : `${protocol}://${urlHost(address.host)}:${bound.port}`;
    },
    listen: () => listenFrom(app, address),
    close: () => app.close(),
  };
}

async function listenFrom(app: FastifyInstance, { host, port, spare }: ListenAddress): Promise<void> {
  for (let last = port + spare; ; port++) {
    try {
      await app.listen({ host, port, listenTextResolver: (address) => `the API and the page are at ${address}` });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && port < last) continue;
      throw new TorporError(
        "invalid_request",
        `torpord can't listen on ${urlHost(host)}:${port}: ${reasons[code ?? ""] ?? (error as Error).message}`,
        {
          hint: "Name another address with --listen, or --listen off for none.",
          cause: error,
        },
      );
    }
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program does",
  EADDRNOTAVAIL: "this host has no such address",
  ENOTFOUND: "there is no such host",
  EACCES: "that needs root",
};

async function readPem(path: string): Promise<Buffer> {
  return readFile(path).catch((error: Error) => {
    throw new TorporError("invalid_path", `${path} can't be read: ${error.message}`, {
      hint: "--tls-cert and --tls-key name files with PEM.",
    });
  });
}
