import type { Sandbox } from "@torpor/contract";
import { useEffect, useRef, useState } from "preact/hooks";
import { StateMark } from "../parts/state-mark.tsx";
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
}

/** One terminal of a sandbox, and what lies over it while there is nothing to type into. */
export function TerminalPane({ sandbox, sessionId, typed, named, onClose }: PaneProps) {
  const element = useRef<HTMLDivElement>(null);
  const pane = useRef<HTMLElement>(null);
  const [terminal, setTerminal] = useState<SessionTerminal | undefined>(undefined);
  const [finding, setFinding] = useState(false);
  useEffect(() => {
    if (element.current === null || sessionId === undefined) return;
    const leave = () => pane.current?.querySelector<HTMLElement>(".pane-bar button")?.focus();
    const made = new SessionTerminal(element.current, { sandboxId: sandbox.id, sessionId, typed, leave, search: () => setFinding(true) });
    setTerminal(made);
    return () => {
      setTerminal(undefined);
      made.dispose();
    };
  }, [sandbox.id, sessionId]);
  const runs = sandbox.state === "running";
  useEffect(() => {
    // A pause may still fail, and the terminal then goes on: it ends the connection by itself when it succeeds.
    if (runs) terminal?.connect();
    else if (isSettled(sandbox)) terminal?.disconnect();
  }, [terminal, runs, sandbox.state]);
  useEffect(() => {
    if (terminal?.state.value.kind === "live") terminal.emulator.terminal.focus();
  }, [terminal, terminal?.state.value.kind]);
  const asleep = sandbox.state === "paused";
  const title = terminal?.session.value?.argv.join(" ") ?? sessionId ?? "";
  return (
    <section class="pane" ref={pane} aria-label={`Terminal of ${sandbox.name}`}>
      <div class="pane-bar">
        <span class="title" title={title}>
          {named ? `${sandbox.name}: ` : ""}
          {terminalTitle(terminal)}
        </span>
        {named ? <StateMark sandbox={sandbox} /> : null}
        {terminal === undefined || !runs ? null : <Connection terminal={terminal} />}
        {finding && terminal !== undefined ? <FindBar emulator={terminal.emulator} onClose={() => setFinding(false)} /> : null}
        {terminal === undefined || finding ? null : (
          <button type="button" onClick={() => setFinding(true)}>
            Search
          </button>
        )}
        {terminal === undefined ? null : (
          <button type="button" onClick={() => pane.current?.requestFullscreen().catch(() => {})}>
            Full screen
          </button>
        )}
        {onClose === undefined ? null : (
          <button type="button" aria-label={`Close the terminal of ${sandbox.name}`} onClick={onClose}>
            ✕
          </button>
        )}
      </div>
      <div class={`screen${runs ? "" : " asleep"}`}>
        <div class="emulator" ref={element} />
        {asleep ? (
          <div class="over">
            <Asleep sandbox={sandbox} />
          </div>
        ) : (
          <Over sandbox={sandbox} terminal={terminal} />
        )}
      </div>
    </section>
  );
}

function terminalTitle(terminal: SessionTerminal | undefined): string {
  const session = terminal?.session.value;
  if (session === undefined) return "terminal";
  const [program = "terminal"] = session.argv;
  return `${program.split("/").at(-1)} · pid ${session.pid}`;
}
