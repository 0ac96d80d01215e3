import type { Entry, Sandbox } from "@torpor/contract";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { formatBytes } from "../format/bytes.ts";
import { confirmed } from "../parts/confirm.tsx";
import { showError, showNote } from "../state/toasts.ts";
import { crumbsOf, downloadAddress, join, listDirectory, makeDirectory, removeFile, writeFile } from "./file-calls.ts";
import { FileEditor } from "./file-editor.tsx";
import { NameDialog } from "./name-dialog.tsx";

export function Files({ sandbox }: { readonly sandbox: Sandbox }) {
  if (sandbox.state !== "running") {
    return (
      <div class="empty">
        <h2>Its files can be reached while it runs</h2>
        <p>{sandbox.state === "paused" ? "Resume it" : "Start it"} to browse them. Nothing of them changes meanwhile.</p>
      </div>
    );
  }
  return <Browser sandbox={sandbox} />;
}

function Browser({ sandbox }: { readonly sandbox: Sandbox }) {
  const { id } = sandbox;
  const [path, setPath] = useState(sandbox.workdir ?? "/");
  const [entries, setEntries] = useState<readonly Entry[] | undefined>(undefined);
  const [fault, setFault] = useState("");
  const [editing, setEditing] = useState<Entry | undefined>(undefined);
  const [naming, setNaming] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
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
  const upload = async (files: FileList | null | undefined) => {
    for (const file of files ?? []) {
      await writeFile(id, join(path, file.name), file).then(
        () => showNote(`${file.name} is in ${path}`),
        (error) => showError(error, `Upload ${file.name}`),
      );
    }
    await load();
  };
  const remove = async (entry: Entry) => {
    const text = entry.type === "directory" ? "The directory and all that is in it are deleted." : "The file is deleted.";
    if (!(await confirmed(`Delete ${entry.name}?`, text, "Delete"))) return;
    await removeFile(id, entry.path).catch((error) => showError(error, `Delete ${entry.name}`));
    await load();
  };
  const make = async (name: string) => {
    setNaming(false);
    await makeDirectory(id, join(path, name)).catch((error) => showError(error, `Make ${name}`));
    await load();
  };
  const open = (entry: Entry) => (entry.type === "directory" ? setPath(entry.path) : setEditing(entry));
  if (editing !== undefined) {
    const close = () => {
      setEditing(undefined);
      load();
    };
    return <FileEditor sandboxId={id} entry={editing} onClose={close} />;
  }
  return (
    <div
      class="stack"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        upload(event.dataTransfer?.files);
      }}
    >
      <div class="row apart">
        <nav class="crumbs" aria-label="Path">
          {crumbsOf(path).map(([name, to]) => (
            <button
              key={to}
              type="button"
              class="plain"
              onClick={() => setPath(to)}
              {...(to === path ? { "aria-current": "location" as const } : {})}
            >
              {name}
            </button>
          ))}
        </nav>
        <div class="row">
          <button type="button" onClick={() => setNaming(true)}>
            New directory
          </button>
          <button type="button" onClick={() => picker.current?.click()}>
            Upload
          </button>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label="Files to upload"
            onChange={(event) => {
              upload(event.currentTarget.files);
              event.currentTarget.value = "";
            }}
          />
        </div>
      </div>
      {fault === "" ? null : (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {entries?.length === 0 && fault === "" ? (
        <p class="empty">Nothing is here. Drop files to upload them, or make a directory.</p>
      ) : (
        <table class="list files">
          <thead>
            <tr>
              <th>Name</th>
              <th class="number">Size</th>
              <th>Owner</th>
              <th>Changed</th>
              <th>
                <span class="hidden-text">What to do</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries?.map((entry) => (
              <tr key={entry.path}>
                <td class="name">
                  <button type="button" class="plain mono" onClick={() => open(entry)}>
                    {entry.name}
                    {entry.type === "directory" ? "/" : entry.symlinkTarget === null ? "" : ` → ${entry.symlinkTarget}`}
                  </button>
                </td>
                <td class="number more" data-label="Size">
                  {entry.type === "file" ? formatBytes(entry.size) : "—"}
                </td>
                <td class="more" data-label="Owner">
                  {entry.owner}
                </td>
                <td class="more" data-label="Changed">
                  {new Date(entry.modifiedAt).toLocaleString()}
                </td>
                <td>
                  <div class="row">
                    <a
                      class="button"
                      href={downloadAddress(id, entry)}
                      download={entry.type === "directory" ? `${entry.name}.tar` : entry.name}
                      aria-label={`Download ${entry.name}`}
                    >
                      ↓
                    </a>
                    <button type="button" class="bad" aria-label={`Delete ${entry.name}`} onClick={() => remove(entry)}>
                      ✕
                    </button>
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {naming ? <NameDialog title="New directory" action="Make it" onName={make} onClose={() => setNaming(false)} /> : null}
    </div>
  );
}
