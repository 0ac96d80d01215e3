import type { Sandbox } from "@torpor/contract";
import { isHeld } from "../parts/state-mark.tsx";
import { act, acting } from "../state/act.ts";
import { showError } from "../state/toasts.ts";
import { endSentence } from "./end-words.ts";
import { Progress } from "./progress.tsx";
import type { SessionTerminal } from "./terminal.ts";

interface OverProps {
  readonly sandbox: Sandbox;
  readonly terminal: SessionTerminal | undefined;
  readonly onOpen: (() => void) | undefined;
}

/** What lies over a terminal while there is nothing to type into, other than in a sleep; nothing while there is. */
export function Over({ sandbox, terminal, onOpen }: OverProps) {
  if (sandbox.operation !== null && sandbox.state !== "running") {
    return (
      <div class="over">
        <div class="card" role="status">
          <h2>{sandbox.name}</h2>
          <Progress operation={sandbox.operation} />
        </div>
      </div>
    );
  }
  if (sandbox.state === "stopped" || sandbox.state === "failed") return <AtRest sandbox={sandbox} />;
  if (isHeld(sandbox)) return <Remark title="It is held" text="The pool is full. Remove something, and it goes on by itself." />;
  const state = terminal?.state.value;
  if (state?.kind === "ended") return <Remark title="This terminal has ended" text={endSentence(state.end)} onOpen={onOpen} />;
  if (state?.kind === "refused") return <Remark title="This terminal is not to be had" text={`${state.error.message}.`} onOpen={onOpen} />;
  return null;
}

function AtRest({ sandbox }: { readonly sandbox: Sandbox }) {
  const start = () => act("start", sandbox.id).catch((error) => showError(error, `Start ${sandbox.name}`));
  return (
    <div class="over">
      <section class="card" aria-label={`${sandbox.name} does not run`}>
        <h2>{sandbox.state === "failed" ? "It failed" : "It was stopped"}</h2>
        <p class="soft">
          {sandbox.failure?.message ?? "Its processes have ended; its files are as they were."} Start boots it fresh from its files.
        </p>
        <p> </p>
        <button type="button" class="warm big" disabled={acting.value.has(sandbox.id)} onClick={start}>
          Start
        </button>
      </section>
    </div>
  );
}

interface RemarkProps {
  readonly title: string;
  readonly text: string;
  readonly onOpen?: (() => void) | undefined;
}

function Remark({ title, text, onOpen }: RemarkProps) {
  return (
    <div class="remark">
      <p role="status">
        <strong>{title}.</strong> {text}
      </p>
      {onOpen === undefined ? null : (
        <button type="button" onClick={onOpen}>
          Open a new one
        </button>
      )}
    </div>
  );
}
