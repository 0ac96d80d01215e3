import type { TestResult } from "./result.ts";

/** The tests of a JUnit report, as pytest writes it (xunit1): a testcase without a failure, error or skip inside it has passed. */
export function parseJunit(xml: string): TestResult[] {
  const cases = [...xml.matchAll(/<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)];
  return cases.map(([, attributes = "", content = ""]) => ({
    file: attribute(attributes, "file"),
    name: attribute(attributes, "name"),
    status: /<(failure|error)\b/.test(content) ? "failed" : /<skipped\b/.test(content) ? "skipped" : "passed",
  }));
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  return value.replaceAll(/&(quot|lt|gt|amp|apos);/g, (_, entity: keyof typeof entities) => entities[entity]);
}

const entities = { quot: '"', lt: "<", gt: ">", amp: "&", apos: "'" };
