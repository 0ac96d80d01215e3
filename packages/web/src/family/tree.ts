import type { FamilyMember, Sandbox, Snapshot } from "@torpor/contract";

export type TreeNode =
  | { readonly kind: "sandbox"; readonly member: FamilyMember; readonly children: TreeNode[] }
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot; readonly children: TreeNode[] };

/** Forks stand below what they were forked from, snapshots below their source, and what was made from a snapshot below that. */
export function treeOf(
  members: readonly FamilyMember[],
  snapshots: readonly Snapshot[],
  sandboxes: readonly Pick<Sandbox, "id" | "snapshotId">[],
): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const member of members) nodes.set(member.id, { kind: "sandbox", member, children: [] });
  for (const snapshot of snapshots) nodes.set(snapshot.id, { kind: "snapshot", snapshot, children: [] });
  const madeFrom = new Map(sandboxes.map(({ id, snapshotId }) => [id, snapshotId ?? null]));
  const roots: TreeNode[] = [];
  const hang = (node: TreeNode, ...parents: (string | null | undefined)[]) => {
    const parent = parents
      .map((id) => (id === null || id === undefined ? undefined : nodes.get(id)))
      .find((one) => one !== undefined && !isBelow(node, one));
    (parent?.children ?? roots).push(node);
  };
  for (const snapshot of snapshots) hang(nodes.get(snapshot.id) as TreeNode, snapshot.source.id, snapshot.parentId);
  for (const member of members) {
    // A sandbox that was restored to one of its own snapshots stands where it stood.
    const from = member.fork === null ? madeFrom.get(member.id) : null;
    hang(nodes.get(member.id) as TreeNode, from, member.parentId);
  }
  sort(roots);
  return roots;
}

function isBelow(above: TreeNode, node: TreeNode): boolean {
  return above === node || above.children.some((child) => isBelow(child, node));
}

function sort(nodes: TreeNode[]): void {
  nodes.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : timeOf(a) > timeOf(b) ? 1 : 0));
  for (const { children } of nodes) sort(children);
}

const timeOf = (node: TreeNode) => (node.kind === "sandbox" ? (node.member.createdAt ?? "") : node.snapshot.createdAt);
