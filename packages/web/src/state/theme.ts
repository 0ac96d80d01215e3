import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const order: readonly Theme[] = ["system", "light", "dark"];
const storageKey = "torpor.theme";

export const theme = signal<Theme>(order.find((one) => one === read()) ?? "system");

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}

export function applyTheme(): void {
  effect(() => {
    if (theme.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    try {
      localStorage.setItem(storageKey, theme.value);
    } catch {
      // Without storage it is as the system says next time.
    }
  });
}

function read(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}
