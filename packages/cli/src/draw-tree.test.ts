import type { FamilyMember } from "@torpor/sdk/calls";
import { expect, test } from "vitest";
import { drawTree } from "./draw-tree.ts";

const at = "2026-01-01T00:00:00.000Z";

function member(id: string, parentId: string | null, changed: Partial<FamilyMember> = {}): FamilyMember {
  return { id, name: id, state: "running", parentId, fork: null, createdAt: at, removedAt: null, ...changed };
}

test("draws each member under its parent", () => {
  const drawn = drawTree([
    member("base", null, { state: "gone" }),
    member("a", "base", { fork: { at, index: 1, count: 2 } }),
    member("deep", "a", { state: "paused" }),
    member("b", "base"),
    member("sb_lost", null, { name: null, state: "gone" }),
    member("c", "sb_lost"),
  ]);
  expect(drawn).toBe(`base  gone
├── a  running  child 1 of 2, forked ${at}
│   └── deep  paused
└── b  running
sb_lost  gone
└── c  running
`);
});
