import { launchOpen } from "../keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { LaunchForm } from "./launch-form.tsx";

export function LaunchDialog() {
  if (!launchOpen.value) return null;
  const close = () => {
    launchOpen.value = false;
  };
  return (
    <Dialog title="Launch a sandbox" onClose={close}>
      <LaunchForm onLaunched={close} />
      <div class="row">
        <button type="button" onClick={close}>
          Not now
        </button>
      </div>
    </Dialog>
  );
}
