import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";

interface NameDialogProps {
  readonly title: string;
  readonly action: string;
  readonly optional?: boolean;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for a name. */
export function NameDialog({ title, action, optional = false, onName, onClose }: NameDialogProps) {
  const [name, setName] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    onName(name);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <label>
          Name
          <input
            value={name}
            required={!optional}
            placeholder={optional ? "chosen for you" : ""}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <div class="row">
          <button type="submit" class="fill">
            {action}
          </button>
          <button type="button" onClick={onClose}>
            Not now
          </button>
        </div>
      </form>
    </Dialog>
  );
}
