import type { Entry, Sandbox } from "@torpor/contract";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { confirmed } from "../parts/confirm.tsx";
import { showError, showNote } from "../state/toasts.ts";
import { crumbsOf, join, listDirectory, makeDirectory, removeFile, writeFile } from "./file-calls.ts";
import { FileEditor } from "./file-editor.tsx";
import { FileTable } from "./file-table.tsx";
import { NameDialog } from "./name-dialog.tsx";

export function Files({ sandbox }: { readonly sandbox: Sandbox }) {
  if (sandbox.state === "running") return <Browser sandbox={sandbox} />;
  return (
    <div class="empty">
      <h2>Its files can be reached while it runs</h2>
      <p>{sandbox.state === "paused" ? "Resume it" : "Start it"} to browse them. Nothing of them changes meanwhile.</p>
    </div>
  );
}

function Browser({ sandbox }: { readonly sandbox: Sandbox }) {
  const { id } = sandbox;
  const [path, setPath] = useState(sandbox.workdir ?? "/");
  const { entries, fault, load } = useDirectory(id, path);
  const [editing, setEditing] = useState<Entry | undefined>(undefined);
  const upload = async (files: Iterable<File>) => {
    for (const file of files) {
      await writeFile(id, join(path, file.name), file).then(
        () => showNote(`${file.name} is in ${path}`),
        (error) => showError(error, `Upload ${file.name}`),
      );
    }
    await load();
  };
  useDrop(upload);
  const remove = async (entry: Entry) => {
    const text = entry.type === "directory" ? "The directory and all that is in it are deleted." : "The file is deleted.";
    if (!(await confirmed(`Delete ${entry.name}?`, text, "Delete"))) return;
    await removeFile(id, entry.path).catch((error) => showError(error, `Delete ${entry.name}`));
    await load();
  };
  const make = async (name: string) => {
    await makeDirectory(id, join(path, name)).catch((error) => showError(error, `Make ${name}`));
    await load();
  };
  if (editing !== undefined) {
    const close = () => {
      setEditing(undefined);
      void load();
    };
    return <FileEditor sandboxId={id} entry={editing} onClose={close} />;
  }
  return (
    <div class="stack">
      <div class="row apart">
        <Crumbs path={path} onGo={setPath} />
        <Additions onMake={make} onUpload={upload} />
      </div>
      {fault === "" ? null : (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {entries?.length === 0 && fault === "" ? (
        <p class="empty">Nothing is here. Drop files to upload them, or make a directory.</p>
      ) : (
        <FileTable
          sandboxId={id}
          entries={entries ?? []}
          onOpen={(entry) => (entry.type === "directory" ? setPath(entry.path) : setEditing(entry))}
          onRemove={remove}
        />
      )}
    </div>
  );
}

function Crumbs({ path, onGo }: { readonly path: string; readonly onGo: (path: string) => void }) {
  return (
    <nav class="crumbs" aria-label="Path">
      {crumbsOf(path).map(([name, to]) => (
        <button
          key={to}
          type="button"
          class="plain"
          onClick={() => onGo(to)}
          {...(to === path ? { "aria-current": "location" as const } : {})}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

interface AdditionsProps {
  readonly onMake: (name: string) => void;
  readonly onUpload: (files: Iterable<File>) => void;
}

function Additions({ onMake, onUpload }: AdditionsProps) {
  const [naming, setNaming] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const picked = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    onUpload([...(currentTarget.files ?? [])]);
    currentTarget.value = "";
  };
  const made = (name: string) => {
    setNaming(false);
    onMake(name);
  };
  return (
    <div class="row">
      <button type="button" onClick={() => setNaming(true)}>
        New directory
      </button>
      <button type="button" onClick={() => picker.current?.click()}>
        Upload
      </button>
      <input ref={picker} type="file" multiple hidden aria-label="Files to upload" onChange={picked} />
      {naming ? <NameDialog title="New directory" action="Make it" onName={made} onClose={() => setNaming(false)} /> : null}
    </div>
  );
}

function useDirectory(id: string, path: string) {
  const [entries, setEntries] = useState<readonly Entry[] | undefined>(undefined);
  const [fault, setFault] = useState("");
  const load = useCallback(
    () =>
      listDirectory(id, path).then(
        (listed) => {
          setEntries(listed);
          setFault("");
        },
        (error: Error) => {
          setEntries([]);
          setFault(error.message);
        },
      ),
    [id, path],
  );
  useEffect(() => void load(), [load]);
  return { entries, fault, load };
}

/** Files may be dropped anywhere on the page. */
function useDrop(upload: (files: Iterable<File>) => Promise<void>): void {
  const latest = useRef(upload);
  latest.current = upload;
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void latest.current([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, []);
}
