import { closeToast, toasts } from "../state/toasts.ts";

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map(({ id, kind, title, hint }) => (
        <div key={id} class={`toast ${kind}`} role={kind === "error" ? "alert" : undefined}>
          <p>{title}</p>
          <button type="button" class="plain" aria-label="Close this message" onClick={() => closeToast(id)}>
            ✕
          </button>
          {hint === undefined ? null : <p class="soft small">{hint}</p>}
        </div>
      ))}
    </div>
  );
}
