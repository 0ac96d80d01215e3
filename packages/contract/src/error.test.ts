/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { errorCatalogue, errorCodes, TorporError } from "./error.ts";
import { ErrorBody, fromErrorBody, toErrorBody } from "./error-body.ts";

const reference = readFileSync(new URL("../../../docs/reference/errors.md", import.meta.url), "utf8");
const sections = new Map(
  reference
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split("\n", 1)[0] as string, section]),
);

describe("docs/reference/errors.md", () => {
  test("has the codes of the catalogue, all of them and no others, in its order", () => {
    expect([...sections.keys()]).toEqual(errorCodes);
  });

  test.each(errorCodes)("%s: its summary, its status, and what to do", (code) => {
    const { summary, status, retryable } = errorCatalogue[code];
    const [, , facts, , advice] = (sections.get(code) as string).split("\n");
    expect(facts).toBe(`${summary} HTTP status ${status}${retryable ? ", retryable" : ""}.`);
    expect(advice?.length).toBeGreaterThan(20);
  });
});

test("an error comes back from its body as it was", () => {
  const error = new TorporError("name_taken", "another has it", { hint: "take another", details: { name: "x" } });
  const body = ErrorBody.parse(JSON.parse(JSON.stringify(toErrorBody(error))));
  expect(fromErrorBody(body)).toMatchObject({
    code: "name_taken",
    message: "another has it",
    hint: "take another",
    details: { name: "x" },
    status: 409,
  });
});
