import { signal } from "@preact/signals";

/** The time, by the second, as long as somebody looks. */
export const now = signal(Date.now());

export function tick(): void {
  const next = () => {
    now.value = Date.now();
    // At the turn of the second, so that no clock on the page skips one.
    setTimeout(next, 1000 - (Date.now() % 1000));
  };
  next();
}
