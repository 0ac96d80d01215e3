import type { FamilyMember } from "@torpor/contract";
import { teamOf } from "./access/teams.ts";
import { notFound } from "./lifecycle/refusals.ts";
import type { Ports } from "./ports/ports.ts";
import type { AncestorRecord, SandboxRecord } from "./ports/store.ts";

/** All families, or that of one sandbox: whatever comes from its oldest ancestor. Parents stand before their children. */
export async function family(ports: Ports, idOrName?: string, team?: string): Promise<FamilyMember[]> {
  const [sandboxes, ancestors] = await Promise.all([ports.store.listSandboxes(), ports.store.listAncestors()]);
  const members = withUnknown([...ancestors.map(goneMember), ...sandboxes.map(member)]);
  if (idOrName === undefined) {
    // A family is of one team: children have that of their parents.
    const seen = sandboxes.filter((sandbox) => team === undefined || teamOf(sandbox) === team);
    const roots = team === undefined ? rootsOf(members) : [...new Set(seen.map(({ id }) => rootOf(members, id)))];
    return inOrder(members, roots);
  }
  const start = members.find(({ id }) => id === idOrName) ?? sandboxes.find(({ name }) => name === idOrName);
  if (start === undefined) throw notFound(idOrName);
  return inOrder(members, [rootOf(members, start.id)]);
}

function member({ id, name, state, parentId, fork, createdAt }: SandboxRecord): FamilyMember {
  return { id, name, state, parentId, fork: fork ?? null, createdAt, removedAt: null };
}

function goneMember(ancestor: AncestorRecord): FamilyMember {
  return { ...ancestor, state: "gone" };
}

/** A parent that nothing is kept of, since it was removed by an earlier Torpor, is known by its id alone. */
function withUnknown(members: readonly FamilyMember[]): FamilyMember[] {
  const known = new Set(members.map(({ id }) => id));
  const missing = new Set(members.flatMap(({ parentId }) => (parentId === null || known.has(parentId) ? [] : [parentId])));
  const unknown = [...missing].map(
    (id): FamilyMember => ({ id, name: null, state: "gone", parentId: null, fork: null, createdAt: null, removedAt: null }),
  );
  return [...unknown, ...members];
}

function rootsOf(members: readonly FamilyMember[]): string[] {
  return members.filter(({ parentId }) => parentId === null).map(({ id }) => id);
}

function rootOf(members: readonly FamilyMember[], id: string): string {
  const parents = new Map(members.map((each) => [each.id, each.parentId]));
  let root = id;
  for (let parent = parents.get(root); typeof parent === "string"; parent = parents.get(root)) root = parent;
  return root;
}

/** Depth first, without recursion: somebody may fork a fork ten thousand times. */
function inOrder(members: readonly FamilyMember[], roots: readonly string[]): FamilyMember[] {
  const children = Map.groupBy(members, ({ parentId }) => parentId);
  const byId = new Map(members.map((each) => [each.id, each]));
  const waiting = roots
    .flatMap((id) => byId.get(id) ?? [])
    .sort(byAge)
    .reverse();
  const ordered: FamilyMember[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    ordered.push(next);
    waiting.push(...(children.get(next.id) ?? []).sort(byAge).reverse());
  }
  return ordered;
}

/** The children of a fork in their order, also when the last was made first. */
function byAge(a: FamilyMember, b: FamilyMember): number {
  const [first, second] = [a, b].map(({ fork, createdAt }) => fork?.at ?? createdAt ?? "");
  return compare(first ?? "", second ?? "") || (a.fork?.index ?? 0) - (b.fork?.index ?? 0) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
