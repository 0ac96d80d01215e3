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
      <LaunchForm onLaunched={close} onCancel={close} />
    </Dialog>
  );
}
