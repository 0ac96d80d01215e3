import type { ErrorBody } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: Blob | string;
  /** The call may be repeated: with the same key it is one. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** Told when the daemon knows nobody by this browser's cookie (any more). */
export const signedOut = { tell: () => {} };

/** One call of the API; throws TorporError. */
export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const answer = await request(method, path, options);
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}

export async function request(method: string, path: string, { query, json, body, key, signal }: CallOptions = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (json !== undefined) headers["content-type"] = "application/json";
  if (body !== undefined) headers["content-type"] = "application/octet-stream";
  if (key !== undefined) headers["idempotency-key"] = key;
  let answer: Response;
  try {
    answer = await fetch(path + queryText(query), {
      method,
      headers,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new TorporError("daemon_unreachable", "torpord does not answer", {
      hint: "Is the network up, and the daemon running? torpor daemon start starts it. What was begun goes on.",
      cause: error,
    });
  }
  if (answer.ok) return answer;
  if (answer.status === 401) signedOut.tell();
  throw await errorOf(answer);
}

/** 128 random bits. `crypto.randomUUID` is for secure origins only, and a host on a private network is none. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function queryText(query: CallOptions["query"]): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

async function errorOf(answer: Response): Promise<TorporError> {
  const text = await answer.text().catch(() => "");
  try {
    const { code, message, hint, details } = (JSON.parse(text) as ErrorBody).error;
    return new TorporError(code, message, { ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) });
  } catch {
    // What stands between the page and the daemon has answers of its own.
    const gateway = answer.status === 502 || answer.status === 503 || answer.status === 504 || answer.status === 500;
    return new TorporError(gateway ? "daemon_unreachable" : "internal", `the answer was ${answer.status} ${answer.statusText}`);
  }
}
