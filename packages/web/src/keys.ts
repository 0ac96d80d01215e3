import { signal } from "@preact/signals";
import { navigate } from "./router.ts";
import { nextTheme } from "./state/theme.ts";

export interface Shortcut {
  /** One key, or two after each other with a space between. */
  readonly keys: string;
  readonly does: string;
  readonly run: () => void;
}

export const helpOpen = signal(false);
export const launchOpen = signal(false);

/** Those of the place that is shown; a page adds its own. */
const added = signal<readonly Shortcut[]>([]);

const general: readonly Shortcut[] = [
  {
    keys: "?",
    does: "Show these keys",
    run: () => {
      helpOpen.value = true;
    },
  },
  {
    keys: "n",
    does: "Launch a sandbox",
    run: () => {
      launchOpen.value = true;
    },
  },
  { keys: "/", does: "Search the sandboxes", run: search },
  { keys: "g s", does: "Go to the sandboxes", run: () => navigate("/") },
  { keys: "g f", does: "Go to the family", run: () => navigate("/family") },
  { keys: "t", does: "Light, dark, or as the system has it", run: nextTheme },
];

export const shortcuts = () => [...added.value, ...general];

export function addShortcuts(more: readonly Shortcut[]): () => void {
  added.value = more;
  return () => {
    if (added.value === more) added.value = [];
  };
}

/** The time in which the second key of two is waited for. */
const secondKeyMs = 1200;

export function watchKeys(): void {
  let first: { key: string; at: number } | undefined;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const before = first !== undefined && event.timeStamp - first.at < secondKeyMs ? first.key : undefined;
    first = undefined;
    const found = matching(shortcuts(), before, event.key);
    if (found !== undefined) {
      event.preventDefault();
      found.run();
    } else if (shortcuts().some(({ keys }) => keys.startsWith(`${event.key} `))) first = { key: event.key, at: event.timeStamp };
  });
}

export function matching(all: readonly Shortcut[], before: string | undefined, key: string): Shortcut | undefined {
  return (before === undefined ? undefined : all.find(({ keys }) => keys === `${before} ${key}`)) ?? all.find(({ keys }) => keys === key);
}

/** Keys in a field, and above all in a terminal, are not the page's. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function search(): void {
  const focus = () => {
    const field = document.querySelector<HTMLInputElement>("input[type=search]");
    field?.focus();
    return field !== null;
  };
  // What is typed next is for the field, so it is waited for only when it is not there.
  if (focus()) return;
  navigate("/");
  requestAnimationFrame(focus);
}
