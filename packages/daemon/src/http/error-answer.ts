import { type ErrorBody, type ErrorCode, type Issue, objectionOf, objectionsTo, TorporError, toErrorBody } from "@torpor/contract";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

/** What a second may change; a refusal that knows better says so itself. */
const comesAgain: ReadonlySet<ErrorCode> = new Set(["capacity_exceeded", "operation_active", "shutting_down"]);

/** Answers every refusal and failure with the catalogue's status and body; never with a stack trace. */
export function answerError(error: FastifyError | TorporError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const known = toTorporError(error, request);
  const retryAfter = retryAfterOf(known);
  if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
  reply.code(known.status).type("application/json; charset=utf-8").serializer(JSON.stringify).send(toErrorBody(known));
}

/** The header's value, in seconds, where there is a time to come again. */
export function retryAfterOf({ code, details: { retryAfterMs } }: TorporError): string | undefined {
  if (typeof retryAfterMs === "number") return String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  return comesAgain.has(code) ? "1" : undefined;
}

export function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): void {
  const path = request.url.split("?", 1)[0];
  answerError(
    new TorporError("route_not_found", `there is no route ${request.method} ${path}`, {
      hint: "GET /v1/openapi.json tells all there are.",
    }),
    request,
    reply,
  );
}

/** What the client is told about anything that was thrown; what it is not told is logged under the request's id. */
export function toTorporError(error: unknown, request: FastifyRequest): TorporError {
  if (error instanceof TorporError) {
    if (error.status >= 500) request.log.error({ err: error, code: error.code }, "call failed");
    return error;
  }
  const refusal = fromFastify(error as Partial<FastifyError>);
  if (refusal !== undefined) return refusal;
  request.log.error({ err: error }, "fault");
  return new TorporError("internal", `a fault in torpord, recorded in its log as request ${request.id}`, {
    details: { requestId: request.id },
  });
}

const bodyRefusals: Record<string, (error: Partial<FastifyError>) => TorporError> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new TorporError("body_too_large", "the body is over the route's limit", {
      hint: "Send large content through files or standard input.",
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new TorporError("invalid_request", "the body's type is not one that the route takes", {
      hint: "Send JSON with Content-Type: application/json.",
    }),
  FST_ERR_BAD_URL: () => new TorporError("invalid_request", "the address has a malformed percent-encoding"),
};

function fromFastify(error: Partial<FastifyError>): TorporError | undefined {
  if (error.validation !== undefined) return fromValidation(error);
  const refusal = bodyRefusals[error.code ?? ""];
  if (refusal !== undefined) return refusal(error);
  const { statusCode } = error;
  // The framework's other refusals: a broken-off body, a wrong length.
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return new TorporError("invalid_request", error.message ?? "the request is malformed");
  return undefined;
}

/** Names each field and what is wrong with it. */
function fromValidation(error: Partial<FastifyError>): TorporError {
  const found = (error.validation ?? []).slice(0, 8).map(issueOf);
  const issues = found.map(objectionOf);
  const place = { body: "the request", querystring: "the query", params: "the address", headers: "the headers" }[
    error.validationContext ?? "body"
  ];
  const named =
    issues.some(({ field }) => field === "name" || field === "id") &&
    issues.length === 1 &&
    /^a name |an id or name/.test(issues[0]?.reason ?? "");
  return new TorporError(named ? "invalid_name" : "invalid_request", `${place} is not valid: ${objectionsTo(found)}`, {
    details: { issues },
  });
}

/** As zod had it before the framework took it apart. */
function issueOf({ instancePath, message, params }: NonNullable<FastifyError["validation"]>[number]): Issue {
  const path = instancePath.split("/").filter((part) => part !== "");
  return { ...(params as Pick<Issue, "keys" | "issues">), path, message: message ?? "is not valid" };
}

/** An operation's error, as its call answers it. */
export function operationError(error: ErrorBody["error"], operationId: string): TorporError {
  return new TorporError(error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, operationId },
  });
}
