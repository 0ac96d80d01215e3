import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of the text; {} if it is none. */
  readonly body: {
    readonly error?: { readonly code: string; readonly message: string; readonly hint?: string };
    readonly [field: string]: unknown;
  };
}

export interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** A call with any headers, those too that fetch keeps to itself: Host, Origin, Cookie. */
export async function call(url: string, path: string, { method = "GET", headers = {}, json }: CallOptions = {}): Promise<Answer> {
  const text = json === undefined ? undefined : JSON.stringify(json);
  const sent = request(url + path, {
    method,
    agent: false,
    headers: { ...headers, ...(text === undefined ? {} : { "content-type": "application/json" }) },
  });
  sent.end(text);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return read(answer);
}

/** Asks for a WebSocket. What comes in place of one is the answer; of one that opens the status is 101, and it is closed at once. */
export async function upgrade(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const handshake = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  const sent = request(url + path, { agent: false, headers: { ...handshake, ...headers } });
  sent.end();
  const opened = once(sent, "upgrade").then(([answer, socket]) => {
    socket.destroy();
    return { status: 101, headers: (answer as IncomingMessage).headers, text: "", body: {} };
  });
  const refused = once(sent, "response").then(([answer]) => read(answer as IncomingMessage));
  return Promise.race([opened, refused]);
}

async function read(answer: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return { status: answer.statusCode ?? 0, headers: answer.headers, text, body: parse(text) };
}

function parse(text: string): Answer["body"] {
  try {
    return JSON.parse(text) as Answer["body"];
  } catch {
    return {};
  }
}
