import type { Entry } from "@torpor/contract";
import { formatBytes } from "../format/bytes.ts";
import { downloadAddress } from "./file-calls.ts";

interface FileTableProps {
  readonly sandboxId: string;
  readonly entries: readonly Entry[];
  readonly onOpen: (entry: Entry) => void;
  readonly onRemove: (entry: Entry) => void;
}

export function FileTable({ entries, ...rest }: FileTableProps) {
  return (
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
        {entries.map((entry) => (
          <FileRow key={entry.path} entry={entry} {...rest} />
        ))}
      </tbody>
    </table>
  );
}

function FileRow({ sandboxId, entry, onOpen, onRemove }: Omit<FileTableProps, "entries"> & { readonly entry: Entry }) {
  const { name, type, symlinkTarget, size, owner, modifiedAt } = entry;
  const mark = type === "directory" ? "/" : symlinkTarget === null ? "" : ` → ${symlinkTarget}`;
  return (
    <tr>
      <td class="name">
        <button type="button" class="plain mono file-name" onClick={() => onOpen(entry)}>
          {name}
          {mark}
        </button>
      </td>
      <td class="number more" data-label="Size">
        {type === "file" ? formatBytes(size) : "—"}
      </td>
      <td class="more" data-label="Owner">
        {owner}
      </td>
      <td class="more" data-label="Changed">
        {new Date(modifiedAt).toLocaleString()}
      </td>
      <td class="deeds">
        <div class="row">
          {type === "file" || type === "directory" ? (
            <a
              class="button plain"
              href={downloadAddress(sandboxId, entry)}
              download={type === "directory" ? `${name}.tar` : name}
              aria-label={`Download ${name}`}
              title={type === "directory" ? "Download it as a tar file" : "Download it"}
            >
              ↓
            </a>
          ) : null}
          <button type="button" class="plain bad" aria-label={`Delete ${name}`} title="Delete it" onClick={() => onRemove(entry)}>
            ✕
          </button>
        </div>
      </td>
    </tr>
  );
}
