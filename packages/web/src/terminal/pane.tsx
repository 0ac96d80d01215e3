import type { Sandbox } from "@torpor/contract";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isTyping } from "../keys.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { acting } from "../state/act.ts";
import { isSettled } from "../state/sandboxes.ts";
import { Asleep } from "./asleep.tsx";
import { Connection } from "./connection.tsx";
import { FindBar } from "./find-bar.tsx";
import { Over } from "./over.tsx";
import { SessionTerminal } from "./terminal.ts";

interface PaneProps {
  readonly sandbox: Sandbox;
  /** Undefined: not known, as long as the sandbox does not run. */
  readonly sessionId: string | undefined;
  readonly typed?: string | undefined;
  /** More than one pane is shown, so each says whose it is. */
  readonly named: boolean;
  readonly onClose?: (() => void) | undefined;
  /** Opens another terminal, when this one has ended. */
  readonly onOpen?: (() => void) | undefined;
}

/** One terminal of a sandbox, and what lies over it while there is nothing to type into. */
export function TerminalPane({ sandbox, sessionId, typed, named, onClose, onOpen }: PaneProps) {
  const element = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLElement>(null);
  const [finding, setFinding] = useState(false);
  const leave = () => pane.current?.querySelector<HTMLElement>(".pane-bar button")?.focus();
  const terminal = useTerminal(element, { sandbox, sessionId, typed, leave, search: () => setFinding(true) });
  const runs = sandbox.state === "running";
  return (
    <section class="pane" ref={pane} aria-label={`Terminal of ${sandbox.name}`}>
      <div class="pane-bar">
        <span class="title" title={terminal?.session.value?.argv.join(" ")}>
          {named ? `${sandbox.name}: ` : ""}
          {terminalTitle(terminal)}
        </span>
        {named ? <StateMark sandbox={sandbox} /> : null}
        {terminal === undefined ? null : (
          <>
            {runs ? <Connection terminal={terminal} /> : null}
            {finding ? (
              <FindBar emulator={terminal.emulator} onClose={() => setFinding(false)} />
            ) : (
              <button type="button" onClick={() => setFinding(true)}>
                Search
              </button>
            )}
            <button type="button" onClick={() => pane.current?.requestFullscreen().catch(() => {})}>
              Full screen
            </button>
          </>
        )}
        {onClose === undefined ? null : (
          <button type="button" aria-label={`Close the terminal of ${sandbox.name}`} onClick={onClose}>
            ✕
          </button>
        )}
      </div>
      <div class={`screen${runs ? "" : " asleep"}`}>
        <div class="emulator" ref={element} />
        {sandbox.state === "paused" ? (
          <div class="over">
            <Asleep sandbox={sandbox} />
          </div>
        ) : (
          <Over sandbox={sandbox} terminal={terminal} onOpen={onOpen} />
        )}
      </div>
    </section>
  );
}

interface Wanted extends Pick<PaneProps, "sandbox" | "sessionId" | "typed"> {
  readonly leave: () => void;
  readonly search: () => void;
}

/** The session's terminal in the element, connected whenever the sandbox runs. */
function useTerminal(element: RefObject<HTMLDivElement | null>, { sandbox, sessionId, ...options }: Wanted): SessionTerminal | undefined {
  const [terminal, setTerminal] = useState<SessionTerminal | undefined>(undefined);
  useEffect(() => {
    if (element.current === null || sessionId === undefined) return;
    const made = new SessionTerminal(element.current, { sandboxId: sandbox.id, sessionId, ...options });
    setTerminal(made);
    return () => {
      setTerminal(undefined);
      made.dispose();
    };
  }, [sandbox.id, sessionId]);
  const settled = isSettled(sandbox);
  useEffect(() => {
    // A pause may still fail, and the terminal then goes on: it ends the connection by itself when it succeeds.
    if (sandbox.state === "running") terminal?.connect();
    else if (settled) terminal?.disconnect();
  }, [terminal, sandbox.state, settled]);
  const awake = sandbox.state === "running" || sandbox.state === "resuming" || acting.value.has(sandbox.id);
  useEffect(() => {
    // Already while it wakes: what is typed then is typed as soon as there is a connection. Not away from where somebody is typing.
    if (awake && !isTyping(document.activeElement)) terminal?.emulator.terminal.focus();
  }, [terminal, awake]);
  return terminal;
}

function terminalTitle(terminal: SessionTerminal | undefined): string {
  const session = terminal?.session.value;
  if (session === undefined) return "terminal";
  const [program = "terminal"] = session.argv;
  return `${program.split("/").at(-1)} · pid ${session.pid}`;
}
