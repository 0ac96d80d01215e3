import type { Snapshot } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { listFamily, listSnapshots } from "../api/calls.ts";
import { sentence } from "../api/sentence.ts";
import { formatBytes } from "../format/bytes.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { pathTo } from "../router.ts";
import { onEvent } from "../state/live.ts";
import { findSandbox, newestFirst } from "../state/sandboxes.ts";
import { SnapshotDialog } from "./snapshot-dialog.tsx";
import { type TreeNode, treeOf } from "./tree.ts";

export function FamilyPage() {
  const [roots, setRoots] = useState<readonly TreeNode[] | undefined>(undefined);
  const [fault, setFault] = useState("");
  const count = newestFirst.value.length;
  useEffect(() => {
    let gone = false;
    const load = () =>
      Promise.all([listFamily(), listSnapshots()]).then(
        ([members, snapshots]) => {
          if (!gone) setRoots(treeOf(members, snapshots, newestFirst.value));
        },
        (error: Error) => setFault(sentence(error)),
      );
    void load();
    const release = onEvent(() => void load());
    return () => {
      gone = true;
      release();
    };
  }, [count]);
  return (
    <>
      <h1>Family</h1>
      <p class="soft">What was forked from what, and the snapshots between. Each goes on by itself.</p>
      {fault === "" ? null : <p class="fault">{fault}</p>}
      {roots?.length === 0 ? (
        <div class="empty">
          <h2>Nobody is here yet</h2>
          <p>Launch a sandbox and fork it: the copy has its processes, its memory and its files of that instant.</p>
          <a class="button" href="/">
            Launch one
          </a>
        </div>
      ) : (
        <ul class="tree">
          {roots?.map((node) => (
            <Branch key={keyOf(node)} node={node} />
          ))}
        </ul>
      )}
    </>
  );
}

function Branch({ node }: { readonly node: TreeNode }) {
  return (
    <li>
      <Leaf node={node} />
      {node.children.length === 0 ? null : (
        <ul>
          {node.children.map((child) => (
            <Branch key={keyOf(child)} node={child} />
          ))}
        </ul>
      )}
    </li>
  );
}

function Leaf({ node }: { readonly node: TreeNode }) {
  if (node.kind === "snapshot") return <SnapshotLeaf snapshot={node.snapshot} />;
  const { id, name, removedAt } = node.member;
  const sandbox = findSandbox(id);
  if (sandbox === undefined) {
    return (
      <a class="node" href={pathTo(id)}>
        {name ?? id} <StateMark sandbox={{ state: "gone" }} />
        {removedAt === null ? null : <span class="soft small">removed {new Date(removedAt).toLocaleString()}</span>}
      </a>
    );
  }
  return (
    <a class="node" href={pathTo(sandbox.name)}>
      {sandbox.name} <StateMark sandbox={sandbox} />
    </a>
  );
}

/** Leads to where something can be made of it. */
function SnapshotLeaf({ snapshot }: { readonly snapshot: Snapshot }) {
  const [open, setOpen] = useState(false);
  const { name, source, checkpoint, diskBytes } = snapshot;
  const owner = findSandbox(source.id);
  const inside = (
    <>
      <span aria-hidden="true">◇</span> {name}
      <span class="soft small">
        snapshot, {checkpoint === null ? `files, ${formatBytes(diskBytes)}` : `memory, ${formatBytes(checkpoint.storedBytes)}`}
      </span>
    </>
  );
  if (owner !== undefined) {
    return (
      <a class="node snapshot" href={pathTo(owner.name, "snapshots")}>
        {inside}
      </a>
    );
  }
  return (
    <>
      <button type="button" class="node snapshot" onClick={() => setOpen(true)}>
        {inside}
      </button>
      {open ? <SnapshotDialog snapshot={snapshot} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

const keyOf = (node: TreeNode) => (node.kind === "sandbox" ? node.member.id : node.snapshot.id);
