import { useEffect, useState } from "preact/hooks";
import { listFamily, listSnapshots } from "../api/calls.ts";
import { formatBytes } from "../format/bytes.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { pathTo } from "../router.ts";
import { onEvent } from "../state/live.ts";
import { findSandbox, newestFirst } from "../state/sandboxes.ts";
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
        (error: Error) => setFault(error.message),
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
  if (node.kind === "snapshot") {
    const { name, source, checkpoint, diskBytes } = node.snapshot;
    const inside = (
      <>
        <span aria-hidden="true">◇</span> {name}
        <span class="soft small">
          snapshot, {checkpoint === null ? `files, ${formatBytes(diskBytes)}` : `memory, ${formatBytes(checkpoint.storedBytes)}`}
        </span>
      </>
    );
    return findSandbox(source.id) === undefined ? (
      <span class="node snapshot">{inside}</span>
    ) : (
      <a class="node snapshot" href={pathTo(source.name, "snapshots")}>
        {inside}
      </a>
    );
  }
  const { id, name, removedAt } = node.member;
  const sandbox = findSandbox(id);
  if (sandbox === undefined) {
    return (
      <span class="node">
        {name ?? id} <StateMark sandbox={{ state: "gone" }} />
        {removedAt === null ? null : <span class="soft small">removed {new Date(removedAt).toLocaleString()}</span>}
      </span>
    );
  }
  return (
    <a class="node" href={pathTo(sandbox.name)}>
      {sandbox.name} <StateMark sandbox={sandbox} />
    </a>
  );
}

const keyOf = (node: TreeNode) => (node.kind === "sandbox" ? node.member.id : node.snapshot.id);
