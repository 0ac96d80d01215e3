import { type Difference, type DifferenceLine, type DifferenceList, routes, toErrorBody } from "@torpor/contract";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { toTorporError } from "../error-answer.ts";
import { leaving } from "../leaving.ts";
import { serve } from "../register.ts";
import type { Served } from "../served.ts";
import { startStream } from "../start-stream.ts";

/** Of an answer that is one document and so lies in memory. */
const documentLimit = 10_000;

export function serveDiff(app: FastifyInstance, { lifecycle }: Served): void {
  serve(app, routes.diffSandbox, async ({ params, query, request, reply }) => {
    const other = query.with === undefined ? {} : { with: query.with };
    const differences = lifecycle.diff(params.id, { ...other, signal: leaving(reply) });
    if (!(request.headers.accept ?? "").includes("application/x-ndjson")) return gather(differences, query.limit ?? documentLimit);
    const lines = await startStream(linesOf(differences, query.limit ?? Number.POSITIVE_INFINITY, request));
    return reply.type("application/x-ndjson").serializer(String).send(lines);
  });
}

async function gather(all: AsyncIterable<Difference>, limit: number): Promise<DifferenceList> {
  const differences: Difference[] = [];
  for await (const difference of all) {
    if (differences.length === limit) return { differences, truncated: true };
    differences.push(difference);
  }
  return { differences, truncated: false };
}

/** A failure is a refusal as long as nothing was said, afterwards a line. */
async function* linesOf(all: AsyncIterable<Difference>, limit: number, request: FastifyRequest): AsyncGenerator<Uint8Array> {
  let count = 0;
  try {
    for await (const difference of all) {
      if (count === limit) return yield encode({ end: { truncated: true } });
      count++;
      yield encode({ difference });
    }
  } catch (error) {
    if (count === 0) throw error;
    return yield encode(toErrorBody(toTorporError(error, request)));
  }
  yield encode({ end: { truncated: false } });
}

function encode(line: DifferenceLine): Uint8Array {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
