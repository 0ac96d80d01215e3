import { useEffect, useRef, useState } from "preact/hooks";
import type { Emulator } from "./emulator.ts";

export function FindBar({ emulator, onClose }: { readonly emulator: Emulator; readonly onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState(true);
  useEffect(() => field.current?.focus(), []);
  const close = () => {
    onClose();
    emulator.terminal.focus();
  };
  const find = (direction: "next" | "previous") => setFound(text === "" || emulator.find(text, direction));
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        find("previous");
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <input ref={field} aria-label="Search in the terminal" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <span role="status">{found ? "" : "not found"}</span>
      <button type="submit" aria-label="Find the one before">
        ↑
      </button>
      <button type="button" aria-label="Find the next one" onClick={() => find("next")}>
        ↓
      </button>
      <button type="button" onClick={close}>
        Done
      </button>
    </form>
  );
}
