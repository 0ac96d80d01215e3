import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Route } from "@torpor/contract";
import type { Answer, Answers } from "@torpor/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { fingerprintOf } from "./once.ts";

/** Does a call with a key once; its answer is stored and given to all that come with the key. `work` gives what the route's handler gives. */
export async function answerOnce(
  answers: Answers,
  key: string,
  { route, request, reply, work }: { route: Route; request: FastifyRequest; reply: FastifyReply; work: () => Promise<unknown> },
): Promise<FastifyReply> {
  const content = route.upload === undefined ? undefined : new Content(request);
  const asked = { query: request.query, ...(content === undefined ? { body: request.body } : {}) };
  const answer = await answers.once({
    key,
    scope: `${request.method} ${request.url.split("?", 1)[0]}`,
    fingerprint: async () => fingerprintOf({ ...asked, content: await content?.hash() }),
    work: async () => toAnswer(route, reply, await work()),
  });
  if (answer.body === null) return reply.code(answer.status).send();
  return reply.code(answer.status).type("application/json; charset=utf-8").serializer(String).send(answer.body);
}

function toAnswer(route: Route, reply: FastifyReply, value: unknown): Answer {
  if (value === undefined) return { status: 204, body: null };
  const schema = Object.values(route.responses).find((content) => content.kind === "json" || content.kind === "lines");
  const checked = schema !== undefined && "schema" in schema ? schema.schema.parse(value) : value;
  return { status: reply.statusCode, body: JSON.stringify(checked) };
}

/** An upload, whose hash is taken as it passes; one that nobody reads is read away for it. */
class Content {
  readonly #hash = createHash("sha256");
  readonly #request: FastifyRequest;
  #digest: string | undefined;

  constructor(request: FastifyRequest) {
    this.#request = request;
    const body = request.body as Readable | undefined;
    if (body !== undefined) request.body = Readable.from(this.#passing(body), { objectMode: false });
  }

  async hash(): Promise<string> {
    const body = this.#request.body as Readable | undefined;
    if (body !== undefined && !body.readableEnded) for await (const _ of body);
    this.#digest ??= this.#hash.digest("hex");
    return this.#digest;
  }

  async *#passing(body: Readable): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#hash.update(chunk as Uint8Array);
      yield chunk as Uint8Array;
    }
  }
}
