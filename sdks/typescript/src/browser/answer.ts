import type { ErrorBody } from "@torpor/contract";
import { type ErrorCode, errorCatalogue, type TorporError } from "@torpor/contract/error";
import { createError } from "../errors.ts";

/** What fetch answered, as the clients read an answer of Node.js: its chunks, its headers, and what there is to end it. */
export class Answer implements AsyncIterable<Uint8Array> {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #body: ReadableStream<Uint8Array> | null;
  readonly #leave: () => void;
  #silentMs = 0;

  constructor(response: Response, leave: () => void) {
    this.statusCode = response.status;
    this.headers = Object.fromEntries(response.headers);
    this.#body = response.body;
    this.#leave = leave;
  }

  /** When nothing comes for so long. */
  setTimeout(ms: number): void {
    this.#silentMs = ms;
  }

  destroy(): void {
    this.#leave();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const reader = this.#body?.getReader();
    try {
      for (;;) {
        const silent = this.#silentMs === 0 ? undefined : setTimeout(() => this.#leave(), this.#silentMs);
        const { done, value } = (await reader?.read().finally(() => clearTimeout(silent))) ?? { done: true, value: undefined };
        if (done || value === undefined) return;
        yield value;
      }
    } finally {
      await reader?.cancel().catch(() => {});
    }
  }
}

export async function textOf(answer: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

export async function errorOf(answer: Answer): Promise<TorporError> {
  const text = await textOf(answer);
  return (
    parseError(text) ?? createError("internal", `an answer with status ${answer.statusCode} that is not torpord's: ${text.slice(0, 200)}`)
  );
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
  const known: ErrorCode = code in errorCatalogue ? code : "internal";
  return createError(known, message, { ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) });
}
