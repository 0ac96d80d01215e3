import type { RouteName } from "@torpor/contract";
import { refuseUnknownIn } from "../body-names.ts";
import { addressOf, calls, keyed } from "../calls.ts";
import { createError } from "../errors.ts";
import type { CallRequest } from "../transport.ts";
import { Answer, errorOf, textOf } from "./answer.ts";
import type { Endpoint } from "./endpoint.ts";

export { errorOf, parseError, textOf, toError } from "./answer.ts";

/** Takes the place of transport.ts where there is no Node.js: fetch and the browser's own WebSocket. package.json says so. */
export class Transport {
  readonly endpoint: Endpoint;
  readonly open = new Set<{ close(): void }>();
  closed = false;
  #leaving = new AbortController();

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  close(): void {
    this.closed = true;
    for (const stream of this.open) stream.close();
    this.#leaving.abort();
    this.#leaving = new AbortController();
  }

  async call(name: RouteName, request: CallRequest = {}): Promise<Answer> {
    refuseUnknownIn(name, request.body);
    const answer = await this.#sendOften(name, request);
    if (answer.statusCode < 300) return answer;
    throw await errorOf(answer);
  }

  async json<T>(name: RouteName, request: CallRequest = {}): Promise<T> {
    const text = await textOf(await this.call(name, request));
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** A WebSocket of a browser sends the page's cookies and no headers: see openSocket. */
  socketAddress(path: string): string {
    return `${this.endpoint.url.origin.replace(/^http/, "ws")}${path}`;
  }

  async #sendOften(name: RouteName, given: CallRequest): Promise<Answer> {
    const [method] = calls[name];
    const key = keyed.has(name) ? { "idempotency-key": newKey() } : {};
    const request = { ...given, headers: { ...key, ...given.headers } };
    const path = addressOf(name, request.params, request.query);
    for (let left = triesOf(name); ; left--) {
      try {
        return await this.#send(method, path, request);
      } catch (error) {
        given.signal?.throwIfAborted();
        if (left <= 1 || this.#leaving.signal.aborted) {
          throw createError("daemon_unreachable", `no answer from ${this.endpoint.name}: ${(error as Error).message}`, { cause: error });
        }
      }
    }
  }

  async #send(method: string, path: string, { body, upload, headers, signal }: CallRequest): Promise<Answer> {
    const leave = new AbortController();
    const signals = [leave.signal, this.#leaving.signal, ...(signal === undefined ? [] : [signal])];
    const response = await fetch(`${this.endpoint.url.origin}${path}`, {
      method,
      headers: {
        ...this.endpoint.headers,
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(upload === undefined ? {} : { "content-type": "application/octet-stream" }),
      },
      signal: AbortSignal.any(signals),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Not every browser sends a stream: what is uploaded is gathered.
      ...(upload === undefined ? {} : { body: await gathered(upload) }),
    });
    return new Answer(response, () => leave.abort());
  }
}

/** A browser does not tell a connection that broke from one that never was. */
function triesOf(name: RouteName): number {
  if (calls[name][0] === "GET") return 3;
  return keyed.has(name) ? 2 : 1;
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) parts.push(new Uint8Array(chunk));
  return new Blob(parts);
}

/** crypto.randomUUID is there for pages of https only. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
