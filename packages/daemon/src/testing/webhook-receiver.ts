import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks on loopback, which keeps what came; `answer` says what it answers. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(answer: Answer) {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const received = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      this.received.push(received);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
      answer(response, received);
    });
  }

  static async open({
    port = 0,
    answer = (response) => response.writeHead(204).end(),
  }: {
    readonly port?: number;
    readonly answer?: Answer;
  } = {}): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(answer);
    receiver.#server.listen(port, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Resolves when so many have come. */
  async came(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** As a receiver does it by Standard Webhooks, written apart from what signs. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name]));
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  const given = Buffer.from(signatures?.replace("v1,", "") ?? "", "base64");
  return given.length === expected.length && timingSafeEqual(given, expected) && Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
}
