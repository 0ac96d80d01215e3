/// <reference types="node" />
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { buildOpenApi } from "./openapi.ts";
import { renderApi } from "./openapi-render.ts";
import { routes } from "./route.ts";
import type { Route } from "./route-shape.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly responses: Record<string, object>;
}
const document = buildOpenApi("1.0.0") as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

test.each(Object.entries(renderApi()))("api/%s is fresh: scripts/generate renews it", (name, text) => {
  expect(readFileSync(new URL(`../../../api/${name}`, import.meta.url), "utf8")).toBe(text);
});

describe("the document is valid", () => {
  test("it has every route once", () => {
    expect(operations.map(({ operation }) => operation.operationId).sort()).toEqual(Object.keys(routes).sort());
    const places = Object.values<Route>(routes).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test.each(operations)("$method $path declares its parameters and answers", ({ path, operation }) => {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => name).sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
    expect(inPath.every(({ required }) => required)).toBe(true);
    expect(Object.keys(operation.responses)).toContain("default");
    expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
  });

  test("every reference leads to a schema of it", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference as string);
    const known = new Set(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`));
    expect(references.filter((reference) => !known.has(reference))).toEqual([]);
    expect(references.length).toBeGreaterThan(0);
  });

  test("a query's text has the type that it stands for", () => {
    const force = document.paths["/v1/sandboxes/{id}"]?.delete?.parameters?.find(({ name }) => name === "force");
    expect(force?.schema).toEqual({ type: "boolean" });
    const wait = document.paths["/v1/sandboxes"]?.post?.parameters?.find(({ name }) => name === "wait");
    expect(wait?.schema).toMatchObject({ type: "integer", maximum: 600_000 });
  });
});

test("no object that a request has takes fields that nobody reads", () => {
  const { schemas } = document.components;
  const open: string[] = [];
  const walk = (part: unknown, at: string, above: ReadonlySet<string>): void => {
    if (typeof part !== "object" || part === null) return;
    const { $ref: ref, properties, additionalProperties } = part as { $ref?: string; properties?: object; additionalProperties?: unknown };
    const name = ref?.split("/").at(-1);
    if (name !== undefined) {
      if (!above.has(name)) walk(schemas[name], `${at}/${name}`, new Set([...above, name]));
      return;
    }
    if (properties !== undefined && additionalProperties !== false) open.push(at);
    for (const [key, inner] of Object.entries(part)) walk(inner, `${at}/${key}`, above);
  };
  for (const { operation } of operations) {
    walk((operation as { requestBody?: unknown }).requestBody, operation.operationId, new Set());
  }
  expect(open).toEqual([]);
});
