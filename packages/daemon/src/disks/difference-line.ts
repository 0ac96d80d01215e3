import type { Difference, FileFacts } from "@torpor/contract";

/** As the shim writes them: names are base64, since they may be any bytes. */
export type Line =
  | {
      readonly change: Difference["change"];
      readonly path: string;
      readonly what?: Difference["what"];
      readonly before?: Facts;
      readonly after?: Facts;
      readonly reason?: string;
    }
  | { readonly end: true; readonly failure?: string; readonly missing?: string };

type Facts = Omit<FileFacts, "target" | "targetBase64"> & { readonly target?: string };

/** undefined: it broke off in the middle. */
export function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

export function differenceOf({ change, path, what, before, after, reason }: Exclude<Line, { end: true }>): Difference {
  const { text, base64 } = nameOf(path);
  return {
    change,
    path: text,
    ...(base64 === undefined ? {} : { pathBase64: base64 }),
    what: what ?? [],
    before: before === undefined ? null : factsOf(before),
    after: after === undefined ? null : factsOf(after),
    ...(reason === undefined ? {} : { reason }),
  };
}

function factsOf({ type, mode, uid, gid, size, target }: Facts): FileFacts {
  const shown = { type, mode, uid, gid, size };
  if (target === undefined) return { ...shown, target: null };
  const { text, base64 } = nameOf(target);
  return { ...shown, target: text, ...(base64 === undefined ? {} : { targetBase64: base64 }) };
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function nameOf(base64: string): { readonly text: string; readonly base64?: string } {
  const bytes = Buffer.from(base64, "base64");
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { text: lenient.decode(bytes), base64 };
  }
}
