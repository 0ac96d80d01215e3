import { helpOpen, shortcuts } from "../keys.ts";
import { Dialog } from "./dialog.tsx";

export function Help() {
  if (!helpOpen.value) return null;
  const close = () => {
    helpOpen.value = false;
  };
  return (
    <Dialog title="Keys" onClose={close}>
      <dl class="keys">
        {shortcuts().map(({ keys, does }) => (
          <>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </>
        ))}
        <dt>
          <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>↑</kbd>
        </dt>
        <dd>Leave the terminal, which has all other keys</dd>
        <dt>
          <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>C</kbd> / <kbd>V</kbd>
        </dt>
        <dd>Copy from and paste into the terminal</dd>
        <dt>
          <kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>F</kbd>
        </dt>
        <dd>Search in the terminal</dd>
      </dl>
      <div class="row">
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
