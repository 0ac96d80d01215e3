import type { FamilyMember } from "@torpor/sdk/calls";
import { oneLine } from "./failure.ts";

/** A line a member, under its parent as `tree` draws directories. Members come with parents before their children. */
export function drawTree(members: readonly FamilyMember[]): string {
  const youngest = new Map(members.map(({ id, parentId }) => [parentId, id]));
  const indents = new Map<string, string>();
  const lines: string[] = [];
  for (const member of members) {
    const { id, parentId } = member;
    const branch = parentId === null ? root : youngest.get(parentId) === id ? lastBranch : innerBranch;
    const indent = indents.get(parentId ?? "") ?? "";
    lines.push(`${indent}${branch.line}${describe(member)}\n`);
    indents.set(id, `${indent}${branch.below}`);
  }
  return lines.join("");
}

const root = { line: "", below: "" };
const lastBranch = { line: "└── ", below: "    " };
const innerBranch = { line: "├── ", below: "│   " };

function describe({ id, name, state, fork }: FamilyMember): string {
  const place = fork === null ? "" : `  child ${fork.index} of ${fork.count}, forked ${fork.at}`;
  return `${oneLine(name ?? id)}  ${state}${place}`;
}
