import { buildErrors, buildOpenApi } from "./openapi.ts";

/** The files of api/ by name: sorted by key, so that a change of the contract shows as just that change. */
export function renderApi(): Record<string, string> {
  return { "openapi.json": render(buildOpenApi("1.0.0")), "errors.json": render(buildErrors()) };
}

function render(value: unknown): string {
  return `${JSON.stringify(sortKeys(value), null, 2)}\n`;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortKeys(inner)]),
  );
}
