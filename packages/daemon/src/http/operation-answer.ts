import { defaultWaitMs, type OperationAnswer } from "@torpor/contract";
import type { CallOptions } from "@torpor/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { teamOf } from "./caller.ts";
import { defined } from "./defined.ts";
import { operationError } from "./error-answer.ts";
import { onceOf } from "./once.ts";

interface Asked {
  readonly query: { readonly wait?: number | undefined; readonly waitCapacity?: number | undefined };
  readonly request: FastifyRequest;
}

export function callOptions({ query, request }: Asked, asked: unknown): CallOptions {
  const once = onceOf(request, asked);
  return { waitMs: query.wait ?? defaultWaitMs, waitCapacityMs: query.waitCapacity ?? 0, ...defined({ once, team: teamOf(request) }) };
}

/** An ended operation answers with its outcome, one that goes on with 202. Of several that one call began one has to be there. */
export function answerOperation(reply: FastifyReply, status: number, answer: OperationAnswer): OperationAnswer {
  const { operation, siblings = [] } = answer;
  const all = [operation, ...siblings.map((sibling) => sibling.operation)];
  if (operation.error !== null && all.every(({ error }) => error !== null)) throw operationError(operation.error, operation.id);
  reply.code(all.some((each) => each.status === "running") ? 202 : status);
  return answer;
}
