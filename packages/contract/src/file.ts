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

/** What happened to a file. */
export const FileChange = z.object({
  /**
   * created: also moved here from elsewhere. modified: its content, so far. written: closed by who had written to it. removed: also moved away.
   * renamed: within what is watched, `from` a path. attributes: mode, owner, time. missed: there were too many changes, look for yourself.
   */
  change: z.enum(["created", "modified", "written", "removed", "renamed", "attributes", "missed"]),
  path: z.string(),
  from: z.string().nullable(),
  directory: z.boolean(),
});
export type FileChange = z.infer<typeof FileChange>;

/** A line of a watch: the first tells that it watches, the last why it ended; between them changes, and each 10 s that it is there. */
export const WatchLine = z.union([
  z.object({ watching: z.literal(true) }),
  z.object({ change: FileChange }),
  z.object({ alive: z.literal(true) }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) }),
]);
export type WatchLine = z.infer<typeof WatchLine>;
