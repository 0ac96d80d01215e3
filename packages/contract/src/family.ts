import { z } from "zod";
import { ForkOrigin, SandboxState } from "./sandbox.ts";

/** A sandbox in its family: what was forked from what. */
export const FamilyMember = z.object({
  id: z.string(),
  /** null: it was removed by a Torpor that did not keep it. */
  name: z.string().nullable(),
  /** gone: it was removed, and others that come from it are there. */
  state: z.enum([...SandboxState.options, "gone"]),
  parentId: z.string().nullable(),
  fork: ForkOrigin.nullable(),
  createdAt: z.iso.datetime().nullable(),
  removedAt: z.iso.datetime().nullable(),
});
export type FamilyMember = z.infer<typeof FamilyMember>;

/** Parents stand before their children, children in the order of their forks. */
export const Family = z.object({ members: z.array(FamilyMember) });
