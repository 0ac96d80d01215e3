import { signal } from "@preact/signals";
import { TorporError } from "@torpor/contract/error";

export interface Toast {
  readonly id: number;
  readonly kind: "error" | "note";
  readonly title: string;
  /** What to do next. */
  readonly hint: string | undefined;
}

export const toasts = signal<readonly Toast[]>([]);
/** An error stays until it is closed; a note goes by itself. */
const noteMs = 6000;
const most = 4;
let lastId = 0;

export function showNote(title: string, hint?: string): void {
  const id = add("note", title, hint);
  setTimeout(() => closeToast(id), noteMs);
}

/** `doing` says what failed, if the error does not: "Suspend base". */
export function showError(error: unknown, doing?: string): void {
  const message = error instanceof Error ? error.message : String(error);
  add("error", doing === undefined ? message : `${doing}: ${message}`, error instanceof TorporError ? error.hint : undefined);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

function add(kind: Toast["kind"], title: string, hint: string | undefined): number {
  const id = ++lastId;
  // The same fault again is no news.
  const others = toasts.value.filter((toast) => toast.title !== title);
  toasts.value = [...others, { id, kind, title, hint }].slice(-most);
  return id;
}
