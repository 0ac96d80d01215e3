import { signal } from "@preact/signals";
import type { CreateSandboxRequest, Sandbox } from "@torpor/contract";
import { getOperation } from "../api/calls.ts";
import { navigate, pathTo } from "../router.ts";
import { failureOf, repeated } from "../state/act.ts";
import { putSandbox, refresh } from "../state/sandboxes.ts";
import { showError } from "../state/toasts.ts";
import { openShell, putStarter, starterCommand } from "./starter.ts";

/** What is to be typed into a terminal when it is first shown, by session. */
export const waitingCommands = new Map<string, string>();
/** Sandboxes whose first terminal this page is about to open. */
export const launching = signal<ReadonlySet<string>>(new Set());

/** What is opened in it when it runs: nothing, a shell, or a shell with the counter typed into it. */
export type First = "none" | "shell" | "starter";

const lookMs = 120;

/** Begins to make a sandbox and shows its page; throws what it is refused for. What comes then goes on by itself. */
export async function launch(wanted: CreateSandboxRequest, first: First): Promise<void> {
  const { operation, sandbox } = await repeated("create", "", wanted, { wait: 0 });
  if (sandbox === null) throw failureOf(operation);
  putSandbox(sandbox);
  launching.value = new Set(launching.value).add(sandbox.id);
  navigate(pathTo(sandbox.name));
  settle(operation.id, sandbox, first)
    .catch((error) => showError(error, `Launch ${sandbox.name}`))
    .finally(() => {
      const rest = new Set(launching.value);
      rest.delete(sandbox.id);
      launching.value = rest;
    });
}

/** Waits for the boot and opens the first terminal. */
async function settle(operationId: string, sandbox: Sandbox, first: First): Promise<void> {
  await ended(operationId, sandbox.id);
  // What comes from a snapshot has the terminals of the snapshot.
  if (first === "none") return;
  if (first === "starter") await putStarter(sandbox.id);
  const session = await openShell(sandbox.id);
  if (first === "starter") waitingCommands.set(session, starterCommand);
  // Unless somebody has gone elsewhere meanwhile.
  if (location.pathname === pathTo(sandbox.name)) navigate(pathTo(sandbox.name, "terminal", session), "replace");
}

async function ended(operationId: string, sandboxId: string): Promise<void> {
  for (;;) {
    const operation = await getOperation(operationId);
    if (operation.status !== "running") {
      await refresh(sandboxId);
      if (operation.status === "failed") throw failureOf(operation);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
