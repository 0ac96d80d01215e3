import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.tsx";
import { NameField } from "../parts/name-field.tsx";

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
        <NameField label="Name" name={name} required={!optional} onName={setName} />
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
