/** What zod says is wrong with a value, as far as it is told on. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Unknown fields of a strict object. */
  readonly keys?: readonly string[];
  /** Why a key of a record is none. */
  readonly issues?: readonly { readonly message?: string }[];
}

/** The field, empty if it is the whole, and the reason: the same words whichever way a request came. */
export function objectionOf({ path, message, keys, issues }: Issue): { readonly field: string; readonly reason: string } {
  const missing = message.replace(/^Invalid input: expected (\S+), received undefined$/, "is missing, it is a $1");
  const reason = message === "Invalid key in record" ? (issues?.[0]?.message ?? message) : missing;
  return { field: path.length === 0 ? (keys?.[0] ?? "") : path.map(String).join("."), reason };
}

/** Of all that is wrong, at most eight. */
export function objectionsTo(issues: readonly Issue[]): string {
  return issues
    .slice(0, 8)
    .map(objectionOf)
    .map(({ field, reason }) => (field === "" ? reason : `${field}: ${reason}`))
    .join("; ");
}
