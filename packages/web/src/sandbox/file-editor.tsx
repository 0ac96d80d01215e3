import type { Entry } from "@torpor/contract";
import { useEffect, useState } from "preact/hooks";
import { sentence } from "../api/sentence.ts";
import { formatBytes } from "../format/bytes.ts";
import { showError, showNote } from "../state/toasts.ts";
import { downloadAddress, type FileText, readText, textOf, writeFile } from "./file-calls.ts";

/** A larger file is for an editor in a terminal. */
const editLimitBytes = 1024 * 1024;

interface FileEditorProps {
  readonly sandboxId: string;
  readonly entry: Entry;
  readonly onClose: () => void;
}

/** A file as text, to look at and to change. */
export function FileEditor({ sandboxId, entry, onClose }: FileEditorProps) {
  const tooLarge = entry.size > editLimitBytes;
  const [text, setText] = useState<string | undefined>(undefined);
  const [saved, setSaved] = useState<string | undefined>(undefined);
  const [lineEnd, setLineEnd] = useState<FileText["lineEnd"]>("\n");
  const [fault, setFault] = useState(tooLarge ? `It has ${formatBytes(entry.size)}: too much to be shown here.` : "");
  useEffect(() => {
    if (tooLarge) return;
    readText(sandboxId, entry.path).then(
      (content) => {
        const read = textOf(content);
        if (read === undefined) setFault("It is no text.");
        else if (read.lineEnd === undefined)
          setFault("Its lines end in different ways: to change it, use an editor in a terminal, which keeps them.");
        setText(read?.text);
        setSaved(read?.text);
        setLineEnd(read?.lineEnd);
      },
      (error: Error) => setFault(sentence(error)),
    );
  }, [sandboxId, entry.path, tooLarge]);
  const save = async () => {
    if (text === undefined || lineEnd === undefined) return;
    try {
      await writeFile(sandboxId, entry.path, text.replaceAll("\n", lineEnd));
      setSaved(text);
      showNote(`${entry.name} is saved`);
    } catch (error) {
      showError(error, `Save ${entry.name}`);
    }
  };
  const changed = text !== saved;
  useEffect(() => {
    if (!changed) return;
    // The browser asks before the tab is closed.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [changed]);
  return (
    <div class="stack">
      <div class="row apart">
        <h2 class="mono">{entry.path}</h2>
        <div class="row">
          <button type="button" class="fill" disabled={!changed} onClick={save}>
            Save
          </button>
          <a class="button" href={downloadAddress(sandboxId, entry)} download={entry.name}>
            Download
          </a>
          <button type="button" onClick={onClose}>
            {changed ? "Close without saving" : "Close"}
          </button>
        </div>
      </div>
      {fault === "" ? null : (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      {text === undefined ? null : (
        <textarea
          aria-label={`Text of ${entry.name}`}
          rows={24}
          wrap="off"
          spellcheck={false}
          readOnly={lineEnd === undefined}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
            event.preventDefault();
            void save();
          }}
        />
      )}
    </div>
  );
}
