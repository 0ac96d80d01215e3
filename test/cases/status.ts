import type { TestResult } from "../../scripts/testing/result.ts";
import type { FoundTest } from "./found-test.ts";
import { idsIn } from "./scan.ts";

export type Status = "passed" | "failed" | "not run" | "not yet";

/** A case has passed when all its tests that ran here did, and at least one ran; a test that exists proves nothing. */
export function statusOf(id: string, found: readonly FoundTest[], results: readonly TestResult[]): Status {
  const ran = results.filter((result) => result.status !== "skipped" && idsIn(result.name, new Set([id])).length > 0);
  if (ran.some((result) => result.status === "failed")) return "failed";
  if (!found.some((test) => test.id === id)) return "not yet";
  return ran.length > 0 ? "passed" : "not run";
}
