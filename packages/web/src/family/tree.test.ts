import type { FamilyMember, Sandbox, Snapshot } from "@torpor/contract";
import { expect, test } from "vitest";
import { type TreeNode, treeOf } from "./tree.ts";

const member = (id: string, createdAt: string, parentId: string | null = null, forked = parentId !== null) =>
  ({ id, name: id, createdAt, parentId, fork: forked ? { index: 1 } : null }) as FamilyMember;
const snapshot = (id: string, createdAt: string, source: string) => ({ id, createdAt, source: { id: source }, parentId: null }) as Snapshot;
const made = (id: string, snapshotId: string) => ({ id, snapshotId }) as Sandbox;
const drawn = (nodes: readonly TreeNode[]): unknown[] =>
  nodes.map((node) => {
    const id = node.kind === "sandbox" ? node.member.id : node.snapshot.id;
    return node.children.length === 0 ? id : [id, ...drawn(node.children)];
  });

test("forks, snapshots, and what was made from them", () => {
  const tree = treeOf(
    [member("base", "1"), member("fork", "3", "base"), member("made", "4", "base", false), member("alone", "2")],
    [snapshot("snap", "2", "base"), snapshot("orphan", "5", "gone")],
    [made("made", "snap")],
  );
  expect(drawn(tree)).toEqual([["base", ["snap", "made"], "fork"], "alone", "orphan"]);
});

test("a sandbox that went back to its own snapshot does not stand below itself", () => {
  const tree = treeOf([member("base", "1")], [snapshot("snap", "2", "base")], [made("base", "snap")]);
  expect(drawn(tree)).toEqual([["base", "snap"]]);
});
