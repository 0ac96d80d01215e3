import { objectionOf, objectionsTo } from "@torpor/contract/issue";
import { noSuchFields } from "@torpor/contract/no-such-fields";
import { createError } from "./errors.ts";

/** The names of a type's fields, of all its alternatives: a table that lacks one, or has one more, does not compile. */
export type NamesOf<T> = Readonly<Record<NameOf<T>, true>>;
type NameOf<T> = T extends unknown ? keyof T & string : never;

/**
 * Refuses options that there are not, even undefined ones, as the API does and before anything is sent: to plain JavaScript no compiler tells that
 * `{ timeOut: 5 }` counts for nothing. Names rather than the contract's schemas, which would bring zod, 50 ms of every start.
 */
export function refuseUnknown<T extends object>(options: T, names: NamesOf<NoInfer<T>>): void {
  if (typeof options !== "object" || options === null) throw refusal({ path: [], message: `an object is needed, not ${String(options)}` });
  const unknown = Object.keys(options).filter((key) => !Object.hasOwn(names, key));
  if (unknown.length > 0) throw refusal({ path: [], keys: unknown, message: noSuchFields(unknown, Object.keys(names)) });
}

function refusal(issue: Parameters<typeof objectionOf>[0]): Error {
  return createError("invalid_request", `the request is not valid: ${objectionsTo([issue])}`, {
    details: { issues: [objectionOf(issue)] },
  });
}
