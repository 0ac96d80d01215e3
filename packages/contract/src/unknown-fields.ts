import { z } from "zod";
import { nearest } from "./nearest.ts";

/** An unknown field of a strict object is told with the one that was probably meant: of all schemas, and by whatever way a request came. */
z.config({
  customError: ({ code, keys, inst }) => {
    if (code !== "unrecognized_keys") return undefined;
    const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
    return (keys as string[]).map((key) => unknownField(key, known)).join(", ");
  },
});

export function unknownField(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `there is no ${JSON.stringify(key)}${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`;
}
