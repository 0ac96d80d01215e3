import type { Entry } from "@torpor/contract";
import { formatBytes } from "../format/bytes.ts";
import { downloadAddress, isNamable } from "./file-calls.ts";

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
        {entries.map((entry, at) =>
          isNamable(entry) ? (
            <FileRow key={entry.path} entry={entry} {...rest} />
          ) : (
            <UnnamableRow key={`${at} ${entry.path}`} entry={entry} />
          ),
        )}
      </tbody>
    </table>
  );
}

function FileRow({ sandboxId, entry, onOpen, onRemove }: Omit<FileTableProps, "entries"> & { readonly entry: Entry }) {
  const { name, type } = entry;
  return (
    <tr>
      <td class="name">
        <button type="button" class="plain mono file-name" onClick={() => onOpen(entry)}>
          {name}
          {markOf(entry)}
        </button>
      </td>
      <Facts entry={entry} />
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

/** The daemon finds it under no name that the page could send. */
function UnnamableRow({ entry }: { readonly entry: Entry }) {
  return (
    <tr>
      <td class="name">
        <span class="mono">
          {entry.name}
          {markOf(entry)}
        </span>
        <p class="soft small">Its name is not UTF-8: reach it in a terminal.</p>
      </td>
      <Facts entry={entry} />
      <td />
    </tr>
  );
}

function Facts({ entry: { type, size, owner, modifiedAt } }: { readonly entry: Entry }) {
  return (
    <>
      <td class="number more" data-label="Size">
        {type === "file" ? formatBytes(size) : "—"}
      </td>
      <td class="more" data-label="Owner">
        {owner}
      </td>
      <td class="more" data-label="Changed">
        {new Date(modifiedAt).toLocaleString()}
      </td>
    </>
  );
}

const markOf = ({ type, symlinkTarget }: Entry): string =>
  type === "directory" ? "/" : symlinkTarget === null ? "" : ` → ${symlinkTarget}`;
