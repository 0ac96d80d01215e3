import { z } from "zod";

export const EntryType = z.enum(["file", "directory", "symlink", "other"]);
export const Entry = z.object({
  path: z.string(),
  name: z.string(),
  type: EntryType,
  size: z.number(),
  /** Permission bits with setuid, setgid and sticky. */
  mode: z.number().int(),
  owner: z.string(),
  group: z.string(),
  uid: z.number().int(),
  gid: z.number().int(),
  modifiedAt: z.iso.datetime(),
  symlinkTarget: z.string().nullable(),
});
export type Entry = z.infer<typeof Entry>;
export const EntryList = z.object({ entries: z.array(Entry) });
export const MakeDirectoryRequest = z.strictObject({
  path: z.string().min(1),
  user: z.string().optional(),
  parents: z.boolean().optional(),
  mode: z.number().int().min(0).max(0o7777).optional(),
});
export const MoveRequest = z.strictObject({ from: z.string().min(1), to: z.string().min(1), user: z.string().optional() });
