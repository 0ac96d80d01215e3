import { LaunchForm } from "../launch/launch-form.tsx";

/** What the page shows as long as there is no sandbox. */
export function Hero() {
  return (
    <div class="hero">
      <div class="stack">
        <h1>Start something. Let it sleep. Pick up mid-thought.</h1>
        <p class="lead soft">
          Launch a sandbox and start a counter that lives in memory only. Suspend it: its memory becomes a file, and nothing runs. Close the
          tab, wait as long as you like, and resume: the count goes on, in the same process.
        </p>
      </div>
      <div class="sheet">
        <LaunchForm />
      </div>
    </div>
  );
}
