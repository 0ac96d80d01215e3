import type { Entry, Sandbox } from "@torpor/contract";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { sentence } from "../api/sentence.ts";
import { formatBytes } from "../format/bytes.ts";
import { confirmed } from "../parts/confirm.tsx";
import { navigate, pathToDirectory } from "../router.ts";
import { showError, showNote } from "../state/toasts.ts";
import { crumbsOf, isDirectory, join, listDirectory, makeDirectory, removeFile, writeFile } from "./file-calls.ts";
import { FileEditor } from "./file-editor.tsx";
import { FileTable } from "./file-table.tsx";
import { NameDialog } from "./name-dialog.tsx";

interface FilesProps {
  readonly sandbox: Sandbox;
  /** What the address names. */
  readonly directory: string | undefined;
}

export function Files({ sandbox, directory }: FilesProps) {
  if (sandbox.state === "running") return <Browser sandbox={sandbox} path={directory ?? sandbox.workdir ?? "/"} />;
  return (
    <div class="empty">
      <h2>Its files can be reached while it runs</h2>
      <p>{sandbox.state === "paused" ? "Resume it" : "Start it"} to browse them. Nothing of them changes meanwhile.</p>
    </div>
  );
}

function Browser({ sandbox: { id, name }, path }: { readonly sandbox: Sandbox; readonly path: string }) {
  const go = (to: string) => to !== path && navigate(pathToDirectory(name, to));
  const { entries, fault, load } = useDirectory(id, path);
  const [editing, setEditing] = useState<Entry | undefined>(undefined);
  const [uploading, setUploading] = useState("");
  // The way back leads out of the editor too.
  useEffect(() => setEditing(undefined), [path]);
  const upload = async (files: readonly File[]) => {
    for (const [i, file] of files.entries()) {
      const { name, size } = file;
      const isThere = entries?.some((entry) => entry.name === name) ?? false;
      if (isThere && !(await confirmed(`Replace ${name}?`, `There is one in ${path}. What is in it now is given up.`, "Replace"))) continue;
      setUploading(`Uploading ${name}, ${formatBytes(size)}${files.length === 1 ? "" : `, ${i + 1} of ${files.length}`}…`);
      await writeFile(id, join(path, name), file).then(
        () => showNote(`${name} is in ${path}`),
        (error) => showError(error, `Upload ${name}`),
      );
    }
    setUploading("");
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
  const open = async (entry: Entry) => {
    if (await isDirectory(id, entry)) go(entry.path);
    else setEditing(entry);
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
        <Crumbs path={path} onGo={go} />
        <Additions onMake={make} onUpload={upload} />
      </div>
      {uploading === "" ? null : (
        <p class="soft" role="status">
          {uploading}
        </p>
      )}
      {fault === "" ? null : (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {entries?.length === 0 && fault === "" ? (
        <p class="empty">Nothing is here. Drop files to upload them, or make a directory.</p>
      ) : (
        <FileTable sandboxId={id} entries={entries ?? []} onOpen={open} onRemove={remove} />
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
  readonly onUpload: (files: readonly File[]) => void;
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
          setFault(sentence(error));
        },
      ),
    [id, path],
  );
  useEffect(() => void load(), [load]);
  return { entries, fault, load };
}

/** Files may be dropped anywhere on the page. */
function useDrop(upload: (files: readonly File[]) => Promise<void>): void {
  const latest = useRef(upload);
  latest.current = upload;
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void latest.current(droppedFiles(event.dataTransfer));
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, []);
}

/** A directory that is dropped looks like a file that can't be read. */
function droppedFiles(dropped: DataTransfer | null): File[] {
  const files: File[] = [];
  for (const item of dropped?.items ?? []) {
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile();
    if (entry?.isDirectory === true) showError(new Error(`${entry.name} is a directory: drop what is in it, or use torpor cp`), "Upload");
    else if (file !== null) files.push(file);
  }
  return files;
}
