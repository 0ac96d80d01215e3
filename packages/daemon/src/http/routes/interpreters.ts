import { type RunLine, type RunResult, routes, TorporError, toErrorBody } from "@torpor/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { toTorporError } from "../error-answer.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { startStream } from "../start-stream.ts";
import { Tail } from "../tail.ts";

/** What is kept of each output for an answer that is one document, in bytes. */
const keptBytes = 8 * 1024 * 1024;

export function serveInterpreters(app: FastifyInstance, { lifecycle }: Served): void {
  const { interpreters } = lifecycle;
  serve(app, routes.createInterpreter, ({ params, body, reply }) => {
    reply.code(201);
    return interpreters.create(params.id, body.language);
  });
  serve(app, routes.runCode, async ({ params: { id, iid }, body, request, reply }) => {
    const lines = interpreters.run(id, iid, body, leaving(reply));
    if (!(request.headers.accept ?? "").includes("application/x-ndjson")) return gather(lines);
    return reply
      .type("application/x-ndjson")
      .serializer(String)
      .send(await startStream(encoded(lines, request)));
  });
}

async function gather(lines: AsyncIterable<RunLine>): Promise<RunResult> {
  const stdout = new Tail(keptBytes);
  const stderr = new Tail(keptBytes);
  for await (const line of lines) {
    if ("end" in line) return { stdout: stdout.text("utf8"), stderr: stderr.text("utf8"), ...line.end };
    if ("stdout" in line) stdout.add(Buffer.from(line.stdout));
    else stderr.add(Buffer.from(line.stderr));
  }
  throw new TorporError("internal", "the run broke off without an end");
}

/** A failure is a refusal as long as nothing was said, afterwards a line. */
async function* encoded(lines: AsyncIterable<RunLine>, request: FastifyRequest): AsyncGenerator<Uint8Array> {
  let told = false;
  try {
    for await (const line of lines) {
      told = true;
      yield encode(line);
    }
  } catch (error) {
    if (!told) throw error;
    yield encode(toErrorBody(toTorporError(error, request)));
  }
}

const encode = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
