import { now } from "../state/now.ts";
import type { StreamState } from "../stream/session-stream.ts";
import type { SessionTerminal } from "./terminal.ts";

/** Whether what is typed arrives, in a word; how long until the next attempt if it does not. */
export function Connection({ terminal }: { readonly terminal: SessionTerminal }) {
  const state = terminal.state.value;
  return (
    <>
      <span class={`connection ${state.kind === "reconnecting" ? "broken" : ""}`} role="status">
        {words(state)}
      </span>
      {state.kind === "reconnecting" ? (
        <button type="button" onClick={() => terminal.retry()}>
          Try now
        </button>
      ) : null}
    </>
  );
}

function words(state: StreamState): string {
  switch (state.kind) {
    case "connecting":
      return "connecting…";
    case "live":
      return "live";
    case "reconnecting": {
      const seconds = state.nextAt === undefined ? 0 : Math.ceil((state.nextAt - now.value) / 1000);
      return seconds > 1 ? `reconnecting in ${seconds} s` : "reconnecting…";
    }
    case "away":
      return "";
    case "ended":
      return "ended";
    case "refused":
      return "closed";
  }
}
