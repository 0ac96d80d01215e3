import type { Sandbox } from "@torpor/contract";
import { confirmed } from "../parts/confirm.tsx";
import { navigate, pathTo } from "../router.ts";
import { act, acting } from "../state/act.ts";
import { refresh } from "../state/sandboxes.ts";
import { showError, showNote } from "../state/toasts.ts";
import { resume } from "../terminal/asleep.tsx";

export async function suspend(sandbox: Sandbox): Promise<void> {
  await act("pause", sandbox.id).catch((error) => showError(error, `Suspend ${sandbox.name}`));
}

export async function stop(sandbox: Sandbox): Promise<void> {
  const text = "Its processes end, and its memory is given up. Its files stay, and Start boots it from them. Suspend keeps both.";
  if (!(await confirmed(`Stop ${sandbox.name}?`, text, "Stop"))) return;
  await act("stop", sandbox.id).catch((error) => showError(error, `Stop ${sandbox.name}`));
}

/** What the main button does in each state. */
export async function toggle(sandbox: Sandbox): Promise<void> {
  if (acting.value.has(sandbox.id)) return;
  if (sandbox.state === "running") await suspend(sandbox);
  else if (sandbox.state === "paused") await resume(sandbox);
}

interface Child {
  readonly id: string;
  readonly name: string;
  readonly error: { readonly message: string; readonly hint?: string } | null;
}

/** Copies it as it is this moment, and shows the copy of the same terminal beside it. */
export async function fork(sandbox: Sandbox, session: string | undefined): Promise<void> {
  try {
    const { operation } = await act("fork", sandbox.id);
    const [child] = operation.result.children as Child[];
    if (child === undefined || child.error !== null) throw new Error(child?.error?.message ?? "there is no child");
    await refresh(child.id);
    showNote(
      `${child.name} goes on from the same instant`,
      `${sandbox.name} stood still for ${Math.round(Number(operation.result.frozenMs))} ms.`,
    );
    navigate(pathTo(sandbox.name, "terminal", session, child.name));
  } catch (error) {
    showError(error, `Fork ${sandbox.name}`);
  }
}

export async function remove(sandbox: Sandbox): Promise<void> {
  const text = "Its processes end, and its files, its memory and its checkpoint are deleted. Its snapshots stay. This can't be taken back.";
  if (!(await confirmed(`Remove ${sandbox.name}?`, text, "Remove"))) return;
  try {
    await act("remove", sandbox.id);
    navigate("/");
  } catch (error) {
    showError(error, `Remove ${sandbox.name}`);
  }
}
