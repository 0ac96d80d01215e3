import { TorporError } from "@torpor/contract";

/** Ids become file names: nothing that could be a path, a hidden file or an unfinished one. */
export function requirePlainId(id: string): string {
  if (!isPlainId(id)) {
    throw new TorporError("invalid_request", `The id ${JSON.stringify(id.slice(0, 80))} is malformed.`, {
      hint: "Ids have 1 to 64 letters, digits, hyphens and underscores.",
    });
  }
  return id;
}

export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);
}
