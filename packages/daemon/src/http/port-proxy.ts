import { type IncomingMessage, type OutgoingHttpHeaders, request as requestInside, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { portTokenHeader, TorporError, toErrorBody } from "@torpor/contract";
import { type Lifecycle, requireScope } from "@torpor/core";
import { ByteQueue } from "./byte-queue.ts";
import { retryAfterOf } from "./error-answer.ts";
import type { PortHosts } from "./port-hosts.ts";

export interface PortProxyOptions {
  readonly lifecycle: Pick<Lifecycle, "exposed" | "guest" | "access" | "requireOwn">;
  readonly hosts: PortHosts;
  /** What the caller is not told of. */
  fault(error: unknown): void;
}

/**
 * Hands requests to exposed ports on, as they came: the program sees the caller's host name, path and body. It has no route of the API, and the
 * API none of it: which of the two a request is for is said by its host name alone.
 */
export class PortProxy {
  readonly #options: PortProxyOptions;

  constructor(options: PortProxyOptions) {
    this.#options = options;
  }

  /** Whether the request is for an exposed port. */
  claims(request: IncomingMessage): boolean {
    return this.#options.hosts.labelOf(request) !== undefined;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const inside = await this.#open(request);
      response.once("close", () => inside.destroy());
      await exchange(request, response, inside);
    } catch (error) {
      this.#refuse(error, response);
    }
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      const inside = await this.#open(request);
      socket.once("close", () => inside.destroy());
      await exchangeUpgraded(request, socket, head, inside);
    } catch (error) {
      const known = this.#known(error);
      const retryAfter = retryAfterOf(known);
      const again = retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`;
      const head = `HTTP/1.1 ${known.status} Refused\r\nconnection: close\r\n${again}content-type: text/plain; charset=utf-8\r\n`;
      if (socket.writable) socket.end(`${head}\r\n${known.message}\n`);
    }
  }

  /** A connection to the program, if the caller may have one. */
  async #open(request: IncomingMessage): Promise<Duplex> {
    const { lifecycle, hosts } = this.#options;
    // Names another place in the request itself: proxies are led astray by that.
    if (!request.url?.startsWith("/")) throw new TorporError("invalid_request", "the request's target is not a path of this host");
    const { sandboxId, port, ...exposed } = await lifecycle.exposed(hosts.labelOf(request) ?? "");
    if (!exposed.public) await this.#admit(request, sandboxId, port);
    const input = new ByteQueue();
    const left = new AbortController();
    const { ports } = await lifecycle.guest(sandboxId);
    const { content } = await ports.connect(port, input, left.signal);
    return streamOf(content, input, left);
  }

  async #admit({ headers }: IncomingMessage, sandboxId: string, port: number): Promise<void> {
    const token = headers[portTokenHeader.toLowerCase()];
    if (typeof token !== "string") {
      throw new TorporError("unauthorized", `port ${port} is not public, and the request has no token`, {
        hint: `send ${portTokenHeader}: TOKEN of a token with the scope port, or expose the port with --public`,
      });
    }
    const { access, requireOwn } = this.#options.lifecycle;
    const caller = await access.identify("token", token);
    requireScope(caller, "port", `a request to port ${port}`);
    if (caller.team !== null) await requireOwn(caller.team, { kind: "sandbox", id: sandboxId });
  }

  #refuse(error: unknown, response: ServerResponse): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const known = this.#known(error);
    const retryAfter = retryAfterOf(known);
    if (retryAfter !== undefined) response.setHeader("retry-after", retryAfter);
    response.writeHead(known.status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
    response.end(JSON.stringify(toErrorBody(known)));
  }

  #known(error: unknown): TorporError {
    if (error instanceof TorporError) return error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ECONNRESET" || code?.startsWith("HPE_")) {
      return new TorporError("port_closed", "the program in the sandbox ended the connection without an answer");
    }
    this.#options.fault(error);
    return new TorporError("internal", "a fault in torpord, recorded in its log");
  }
}

/** Of a connection, not of a message (RFC 9110, 7.6.1). */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
/** What this proxy alone may say, and what is for it alone. */
const ownHeaders: ReadonlySet<string> = new Set([
  portTokenHeader.toLowerCase(),
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
]);

function headersInside(request: IncomingMessage): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !hopByHop.has(name) && !ownHeaders.has(name)) headers[name] = value;
  }
  const secure = "encrypted" in request.socket;
  return {
    ...headers,
    "x-forwarded-for": request.socket.remoteAddress ?? "",
    "x-forwarded-host": request.headers.host ?? "",
    "x-forwarded-proto": secure ? "https" : "http",
  };
}

function send(request: IncomingMessage, inside: Duplex, more: OutgoingHttpHeaders) {
  const { method, url: path } = request;
  return requestInside({ method, path, setHost: false, headers: { ...headersInside(request), ...more }, createConnection: () => inside });
}

async function exchange(request: IncomingMessage, response: ServerResponse, inside: Duplex): Promise<void> {
  const chunked = request.headers["transfer-encoding"] !== undefined;
  const out = send(request, inside, { connection: "close", ...(chunked ? { "transfer-encoding": "chunked" } : {}) });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    out.once("response", resolve);
    out.once("error", reject);
    out.once("upgrade", () => reject(new TorporError("port_closed", "the program in the sandbox changed the protocol unasked")));
  });
  // A program may answer before it has read all, or without reading it.
  pipeline(request, out).catch(() => {});
  const { statusCode = 502, statusMessage = "", rawHeaders, headers } = await answer;
  response.writeHead(statusCode, statusMessage, endToEnd(rawHeaders, headers.connection));
  await pipeline(await answer, response);
}

async function exchangeUpgraded(request: IncomingMessage, socket: Duplex, head: Buffer, inside: Duplex): Promise<void> {
  const out = send(request, inside, { connection: "upgrade", upgrade: request.headers.upgrade ?? "websocket" });
  const [answer, rest] = await new Promise<[IncomingMessage, Buffer | undefined]>((resolve, reject) => {
    out.once("upgrade", (message, _socket, first) => resolve([message, first]));
    out.once("response", (message) => resolve([message, undefined]));
    out.once("error", reject);
    out.end();
  });
  const { statusCode = 502, statusMessage = "", rawHeaders, headers } = answer;
  const switched = rest !== undefined;
  const lines = pairs(endToEnd(rawHeaders, headers.connection)).map(([name, value]) => `${name}: ${value}\r\n`);
  const connection = switched ? `connection: upgrade\r\nupgrade: ${headers.upgrade ?? "websocket"}\r\n` : "connection: close\r\n";
  socket.write(Buffer.from(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}${connection}\r\n`, "latin1"));
  if (!switched) {
    await pipeline(answer, socket);
    return;
  }
  if (rest.length > 0) socket.write(rest);
  if (head.length > 0) inside.write(head);
  await Promise.allSettled([pipeline(inside, socket), pipeline(socket, inside)]);
}

/** As they came, in their order and case, without those of the connection. */
function endToEnd(raw: readonly string[], connection: string | undefined): string[] {
  const named = new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return pairs(raw)
    .filter(([name]) => !hopByHop.has(name.toLowerCase()) && !named.has(name.toLowerCase()))
    .flat();
}

function pairs(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? "", raw[2 * index + 1] ?? ""]);
}

/** Bytes to and from the guest as a stream. */
function streamOf(content: AsyncIterable<Uint8Array>, input: ByteQueue, left: AbortController): Duplex {
  const chunks = content[Symbol.asyncIterator]();
  const waitingBytes = 256 * 1024;
  let taken: (() => void) | undefined;
  input.onEmpty = () => {
    const wake = taken;
    taken = undefined;
    wake?.();
  };
  return new Duplex({
    allowHalfOpen: true,
    read() {
      chunks.next().then(
        ({ done, value }) => void this.push(done === true ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    write(chunk: Buffer, _encoding, done) {
      input.push(chunk);
      if (input.waiting <= waitingBytes) done();
      else taken = done;
    },
    final(done) {
      input.end();
      done();
    },
    destroy(error, done) {
      input.end();
      left.abort();
      done(error);
    },
  });
}
