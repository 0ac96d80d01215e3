import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { TorporError } from "@torpor/contract";
import type { PostOutcome, Receivers, SignedPost } from "@torpor/core";
import { version } from "../version.ts";
import { newSecret, signed } from "./signature.ts";
import { TargetRefused, type Targets } from "./targets.ts";

const limitMs = 10_000;
/** Of an answer, so that the receiver can end it in peace; nobody reads it. */
const answerLimitBytes = 64 * 1024;
const reasonLimit = 200;

/** Receivers of webhooks over HTTP. Each message has a connection of its own, to an address that was checked. */
export function createHttpReceivers(targets: Targets, { timeoutMs = limitMs }: { readonly timeoutMs?: number } = {}): Receivers {
  return {
    newSecret,
    check(url) {
      const host = hostOf(new URL(url));
      if (host !== "localhost" && (isIP(host) === 0 || targets.allows(host))) return;
      if (host === "localhost" && targets.allows("127.0.0.1")) return;
      throw new TorporError("target_refused", `webhooks may not be sent to ${host}: it is of the host or a private network`, {
        hint: "The daemon's administrator can open it: torpor daemon start --webhook-allow NETWORK",
      });
    },
    async post(message, signal) {
      signal.throwIfAborted();
      const host = hostOf(new URL(message.url));
      if (isIP(host) !== 0 && !targets.allows(host)) return failed(`${host} is of the host or a private network: see --webhook-allow`);
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        return outcomeOf(await send(message, targets, AbortSignal.any([signal, timeout])));
      } catch (error) {
        signal.throwIfAborted();
        return failed(timeout.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(error));
      }
    },
  };
}

function send(message: SignedPost, { lookup }: Targets, signal: AbortSignal): Promise<IncomingMessage> {
  const url = new URL(message.url);
  const body = Buffer.from(message.body);
  const headers = {
    "content-type": "application/json",
    "content-length": body.length,
    "user-agent": `torpord/${version}`,
    ...signed(message.secret, message),
  };
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent: false, headers, lookup, signal };
    const request = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
    request.once("response", (answer) => {
      let read = 0;
      answer.on("data", (chunk: Buffer) => {
        read += chunk.length;
        if (read > answerLimitBytes) answer.destroy();
      });
      // Its status counts, however the rest of it ends.
      answer.on("error", () => {});
      answer.once("close", () => resolve(answer));
    });
    request.on("error", reject);
    request.end(body);
  });
}

function outcomeOf({ statusCode = 0, headers }: IncomingMessage): PostOutcome {
  if (statusCode >= 200 && statusCode < 300) return { status: statusCode, error: null };
  const redirect = statusCode >= 300 && statusCode < 400;
  const retryAfterMs = statusCode === 429 || statusCode === 503 ? retryAfter(headers["retry-after"]) : undefined;
  return {
    status: statusCode,
    error: `HTTP status ${statusCode}${redirect ? ": redirects are not followed" : ""}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** Seconds, or a date. */
function retryAfter(text = ""): number | undefined {
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function failed(error: string): PostOutcome {
  return { status: null, error };
}

function reasonOf(error: unknown): string {
  if (error instanceof TargetRefused) return error.message;
  // One for each address that was tried.
  const [cause] = error instanceof AggregateError ? error.errors : [error];
  const { code, message } = cause as NodeJS.ErrnoException;
  const words = (message || code || "the connection failed").replaceAll(/[\s\p{Cc}]+/gu, " ");
  return words.slice(0, reasonLimit);
}

/** Without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
