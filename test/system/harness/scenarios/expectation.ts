import { createHash } from "node:crypto";

/** What is otherwise than expected; undefined: nothing. See sdks/scenarios/README.md. */
export function matches(value: unknown, expected: unknown, kept: ReadonlyMap<string, unknown>, at = "it"): string | undefined {
  if (expected === undefined) return undefined;
  if (typeof expected !== "object" || expected === null) return same(value, expected, at);
  if (Array.isArray(expected)) return matchesList(value, expected, kept, at);
  const special = matchesSpecially(value, expected as Record<string, unknown>, kept, at);
  if (special !== "plain") return special;
  for (const [key, inner] of Object.entries(expected)) {
    const failure =
      key === "bytes"
        ? matches(value, factsOf(content(inner as number)), kept, at)
        : matches((value as Record<string, unknown> | null)?.[key], inner, kept, `${at}.${key}`);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Byte i is (i * 31 + floor(i / 256)) mod 256. */
export function content(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => (i * 31 + Math.floor(i / 256)) % 256);
}

export function factsOf(bytes: Uint8Array): { size: number; sha256: string } {
  return { size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function matchesList(value: unknown, expected: readonly unknown[], kept: ReadonlyMap<string, unknown>, at: string): string | undefined {
  if (!Array.isArray(value) || value.length !== expected.length) return same(value, expected, at);
  return expected.map((item, index) => matches(value[index], item, kept, `${at}[${index}]`)).find((failure) => failure !== undefined);
}

type Kept = ReadonlyMap<string, unknown>;

const tests: Readonly<Record<string, (value: unknown, wanted: unknown, kept: Kept, plus: number) => boolean>> = {
  contains: (value, wanted) => typeof value === "string" && value.includes(String(wanted)),
  matches: (value, wanted) => typeof value === "string" && new RegExp(String(wanted)).test(value),
  kept: (value, wanted, kept, plus) =>
    plus === 0 ? value === kept.get(String(wanted)) : value === Number(kept.get(String(wanted))) + plus,
  notKept: (value, wanted, kept) => value !== undefined && value !== kept.get(String(wanted)),
  size: (value, wanted) => Array.isArray(value) && value.length === wanted,
  present: (value) => value !== undefined && value !== null,
};

/** `size` of a file is a field, and that of a list is a test. */
function matchesSpecially(value: unknown, expected: Record<string, unknown>, kept: Kept, at: string): string | undefined | "plain" {
  const { plus, ...test } = expected;
  const [name, ...more] = Object.keys(test);
  const check = name === undefined || more.length > 0 || (name === "size" && !Array.isArray(value)) ? undefined : tests[name];
  if (check === undefined) return "plain";
  return check(value, test[name as string], kept, Number(plus ?? 0)) ? undefined : told(value, expected, at);
}

function same(value: unknown, expected: unknown, at: string): string | undefined {
  return value === expected ? undefined : told(value, expected, at);
}

function told(value: unknown, expected: unknown, at: string): string {
  return `${at} is ${JSON.stringify(value)} and not ${JSON.stringify(expected)}`;
}
