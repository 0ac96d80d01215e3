import { randomUUID } from "node:crypto";
import { Agent, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as SecureAgent } from "node:https";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ErrorBody, RouteName } from "@torpor/contract";
import { type ErrorCode, errorCatalogue, type TorporError } from "@torpor/contract/error";
import { refuseUnknownIn } from "./body-names.ts";
import { addressOf, calls, keyed, type Params, type Query } from "./calls.ts";
import { type Endpoint, unreachable } from "./endpoint.ts";
import { createError } from "./errors.ts";

export interface CallRequest {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: unknown;
  /** A streamed body in place of JSON. */
  readonly upload?: AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** node:http rather than undici: half its load time, and a Unix socket for WebSockets too. */
export class Transport {
  readonly endpoint: Endpoint;
  readonly #agent: Agent;
  /** What `close` ends too: streams that somebody has not read to their end. */
  readonly open = new Set<{ close(): void }>();
  /** Nothing is connected anew by itself. */
  closed = false;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
    this.#agent = endpoint.url?.protocol === "https:" ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  }

  close(): void {
    this.closed = true;
    for (const stream of this.open) stream.close();
    this.#agent.destroy();
  }

  /** The answer of a success, its body unread; everything else is thrown. */
  async call(name: RouteName, request: CallRequest = {}): Promise<IncomingMessage> {
    refuseUnknownIn(name, request.body);
    const answer = await this.#sendOften(name, request);
    if ((answer.statusCode ?? 500) < 300) return answer;
    const error = await this.#errorOf(name, answer);
    // The rest of an upload that was refused is not sent. An answer whose upload is through has given its socket back.
    if (request.upload !== undefined) (answer.socket as Socket | null)?.destroy();
    throw error;
  }

  async json<T>(name: RouteName, request: CallRequest = {}): Promise<T> {
    const text = await textOf(await this.call(name, request)).catch((error: Error) => {
      throw request.signal?.aborted === true ? error : connectionLost(this.endpoint, error);
    });
    try {
      return (text === "" ? undefined : JSON.parse(text)) as T;
    } catch {
      throw notTorpord(this.endpoint, 200, text);
    }
  }

  /** What a WebSocket to a path needs. */
  socketAddress(path: string): { address: string; headers: Readonly<Record<string, string>>; createConnection?: typeof connect } {
    const { url, socket, headers } = this.endpoint;
    if (url !== undefined) return { address: `${url.origin.replace(/^http/, "ws")}${path}`, headers };
    return { address: `ws://torpord${path}`, headers, createConnection: (() => connect(socket)) as typeof connect };
  }

  async #sendOften(name: RouteName, given: CallRequest): Promise<IncomingMessage> {
    const [method] = calls[name];
    const request = keyed.has(name) ? { ...given, headers: { "idempotency-key": randomUUID(), ...given.headers } } : given;
    const path = addressOf(name, request.params, request.query);
    for (let left = triesOf(name); ; left--) {
      try {
        return await this.#send(method, path, request);
      } catch (error) {
        if (request.signal?.aborted === true) throw error;
        if (left <= 1 || !isBroken(error)) throw unreachable(this.endpoint, error as NodeJS.ErrnoException);
      }
    }
  }

  /** A daemon that does not know the call is an older one; what speaks another language is none. */
  async #errorOf(name: RouteName, answer: IncomingMessage): Promise<TorporError> {
    const error = await errorOf(answer, this.endpoint);
    if (error.code !== "route_not_found") return error;
    const [method, path] = calls[name];
    return createError(
      "version_mismatch",
      `the daemon at ${this.endpoint.name} does not know ${method} ${path}: it is older than this client`,
      {
        hint: "upgrade torpord there, or use a client of its version (torpor version shows both)",
        cause: error,
      },
    );
  }

  #send(method: string, path: string, { body, upload, headers, signal }: CallRequest): Promise<IncomingMessage> {
    const { url, socket } = this.endpoint;
    const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const options: RequestOptions = {
      method,
      path,
      agent: this.#agent,
      ...(url === undefined ? { socketPath: socket, host: "torpord" } : { host: url.hostname, port: url.port }),
      headers: {
        ...this.endpoint.headers,
        ...headers,
        ...(text === undefined ? {} : { "content-type": "application/json", "content-length": text.length }),
        ...(upload === undefined ? {} : { "content-type": "application/octet-stream" }),
      },
      ...(signal === undefined ? {} : { signal }),
    };
    return new Promise((resolve, reject) => {
      const request = url?.protocol === "https:" ? requestHttps(options) : requestHttp(options);
      request.setNoDelay(true);
      request.once("response", resolve);
      request.on("error", reject);
      if (upload === undefined) request.end(text);
      // An answer may come before the upload's end, a refusal for one: it counts then, not the broken pipe.
      else pipeline(Readable.from(upload, { objectMode: false }), request).catch(reject);
    });
  }
}

/** How often it is sent when the connection breaks: what changes nothing, and what its key makes repeatable. */
function triesOf(name: RouteName): number {
  if (calls[name][0] === "GET") return 3;
  return keyed.has(name) ? 2 : 1;
}

/** A kept connection that the daemon closed meanwhile, or an answer that was lost. */
function isBroken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE";
}

export async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The error that an answer tells of; one that is not Torpor's comes from something between, or from another server. */
export async function errorOf(answer: IncomingMessage, endpoint: Endpoint): Promise<TorporError> {
  const text = await textOf(answer).catch((error: Error) => {
    throw connectionLost(endpoint, error);
  });
  return parseError(text) ?? notTorpord(endpoint, answer.statusCode, text);
}

function notTorpord({ name }: Endpoint, status: number | undefined, text: string): TorporError {
  return createError("daemon_unreachable", `what answers at ${name} is not torpord: status ${status}, ${text.slice(0, 200)}`, {
    hint: "look at the address, and at proxies in between",
  });
}

function connectionLost({ name }: Endpoint, cause: Error): TorporError {
  return createError("connection_lost", `the connection to ${name} broke off in the middle of an answer: ${cause.message}`, {
    hint: "what the call began goes on: look at its outcome, or call again",
    cause,
  });
}

export function parseError(text: string): TorporError | undefined {
  try {
    const { error } = JSON.parse(text) as Partial<ErrorBody>;
    // Others have a text there, or a code of their own.
    return typeof error?.code === "string" && typeof error.message === "string" ? toError(error) : undefined;
  } catch {
    return undefined;
  }
}

export function toError({ code, message, hint, details }: ErrorBody["error"]): TorporError {
  // A newer daemon may have codes that this client does not know.
  const known: ErrorCode = code in errorCatalogue ? code : "internal";
  return createError(known, message, { ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) });
}
