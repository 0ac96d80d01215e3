import { z } from "zod";
import { EntryType } from "./file.ts";

/** What is told of a file on a disk. */
export const FileFacts = z.object({
  type: EntryType,
  /** Permission bits with setuid, setgid and sticky. */
  mode: z.number().int(),
  uid: z.number().int(),
  gid: z.number().int(),
  /** Of a regular file; else 0. */
  size: z.number(),
  /** Of a symbolic link, as far as it is UTF-8. */
  target: z.string().nullable(),
  /** The target's bytes, when they are no UTF-8. */
  targetBase64: z.string().optional(),
});
export type FileFacts = z.infer<typeof FileFacts>;

export const Difference = z.object({
  /** unread: what is there or below it was not looked at, for the `reason`. */
  change: z.enum(["added", "changed", "removed", "unread"]),
  /** From the root; as far as it is UTF-8. */
  path: z.string(),
  /** The path's bytes, when they are no UTF-8: a name may have any but NUL and `/`. */
  pathBase64: z.string().optional(),
  /** Of a changed one. */
  what: z.array(z.enum(["type", "content", "mode", "owner"])),
  before: FileFacts.nullable(),
  after: FileFacts.nullable(),
  reason: z.string().optional(),
});
export type Difference = z.infer<typeof Difference>;

export const DifferenceList = z.object({
  differences: z.array(Difference),
  /** There are more than these. */
  truncated: z.boolean(),
});
export type DifferenceList = z.infer<typeof DifferenceList>;

/** A line of the NDJSON answer: differences, then the end or an error. An answer without either broke off. */
export const DifferenceLine = z.union([
  z.object({ difference: Difference }),
  z.object({ end: z.object({ truncated: z.boolean() }) }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) }),
]);
export type DifferenceLine = z.infer<typeof DifferenceLine>;
