import type { Sandbox, Session } from "@torpor/contract";
import { TorporError } from "@torpor/contract/error";
import { useEffect, useState } from "preact/hooks";
import { listSessions } from "../api/calls.ts";
import { sentence } from "../api/sentence.ts";
import { launching, waitingCommands } from "../launch/launch.ts";
import { openShell } from "../launch/starter.ts";
import { navigate, pathTo } from "../router.ts";
import { findSandbox } from "../state/sandboxes.ts";
import { showError } from "../state/toasts.ts";
import { TerminalPane } from "../terminal/pane.tsx";

interface TerminalsProps {
  readonly sandbox: Sandbox;
  readonly session: string | undefined;
  readonly beside: string | undefined;
}

/** The sandbox's terminals: one is shown, and beside it that of another sandbox if asked for. */
export function Terminals({ sandbox, session, beside }: TerminalsProps) {
  const { sessions, fault } = useTerminals(sandbox, session);
  const other = beside === undefined ? undefined : findSandbox(beside);
  const show = (id: string) => navigate(pathTo(sandbox.name, "terminal", id, beside));
  const open = () => openShell(sandbox.id).then(show, (error) => showError(error, "Open a terminal"));
  const runs = sandbox.state === "running";
  // As long as it sleeps the bar stays where it is, so that nothing jumps.
  const isBarShown = sessions !== undefined && (sessions.length > 0 || session !== undefined);
  useEffect(() => {
    const newest = sessions?.findLast(({ terminal }) => terminal);
    if (session === undefined && newest !== undefined) navigate(pathTo(sandbox.name, "terminal", newest.id, beside), "replace");
  }, [session, sessions, sandbox.name, beside]);
  const hasNone = session === undefined && runs && sessions?.some(({ terminal }) => terminal) === false && !launching.value.has(sandbox.id);
  if (fault !== undefined) return <Refused fault={fault} />;
  return (
    <>
      {isBarShown ? <SessionBar sessions={sessions} shown={session} runs={runs} onShow={show} onOpen={open} /> : null}
      {hasNone ? (
        <NoTerminal onOpen={open} />
      ) : (
        <div class="panes">
          <TerminalPane sandbox={sandbox} sessionId={session} typed={takeWaiting(session)} named={other !== undefined} onOpen={open} />
          {other === undefined ? null : (
            <TerminalPane
              key={other.id}
              sandbox={other}
              sessionId={session}
              named
              onClose={() => navigate(pathTo(sandbox.name, "terminal", session))}
            />
          )}
        </div>
      )}
    </>
  );
}

function Refused({ fault }: { readonly fault: Error }) {
  return (
    <div class="empty">
      <h2>Its terminals are not to be had</h2>
      <p class="fault" role="alert">
        {sentence(fault)}
      </p>
    </div>
  );
}

function NoTerminal({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <div class="empty">
      <h2>No terminal is open in it</h2>
      <p>One that you open goes on when you close the tab, over pauses, and in each fork.</p>
      <button type="button" class="fill" onClick={onOpen}>
        Open a terminal
      </button>
    </div>
  );
}

interface SessionBarProps {
  readonly sessions: readonly Session[];
  readonly shown: string | undefined;
  readonly runs: boolean;
  readonly onShow: (id: string) => void;
  readonly onOpen: () => void;
}

function SessionBar({ sessions, shown, runs, onShow, onOpen }: SessionBarProps) {
  return (
    <fieldset class="row bare">
      <legend class="hidden-text">Sessions</legend>
      {sessions.map(({ id, argv, pid, end }) => (
        <button key={id} type="button" class={id === shown ? "fill" : ""} aria-pressed={id === shown} onClick={() => onShow(id)}>
          {argv[0]?.split("/").at(-1)} {pid}
          {end === null ? "" : " (ended)"}
        </button>
      ))}
      <button type="button" class="plain" disabled={!runs} onClick={onOpen}>
        + New terminal
      </button>
      <CopyLink />
    </fieldset>
  );
}

/** Its sessions that run, and the one that is shown even if it has ended. */
function useTerminals({ id, state, generation }: Sandbox, shown: string | undefined) {
  const [sessions, setSessions] = useState<readonly Session[] | undefined>(undefined);
  const [fault, setFault] = useState<Error | undefined>(undefined);
  useEffect(() => {
    if (state !== "running") return;
    let gone = false;
    listSessions(id).then(
      (all) => {
        if (!gone) setSessions(all.filter(({ end, id: one }) => end === null || one === shown).sort(byStart));
      },
      (error: Error) => {
        // Of all others the page or the terminal itself tells.
        if (!gone && error instanceof TorporError && error.code === "forbidden") setFault(error);
      },
    );
    return () => {
      gone = true;
    };
  }, [id, state, generation, shown]);
  return { sessions, fault };
}

const byStart = (a: Session, b: Session) => Date.parse(a.startedAt) - Date.parse(b.startedAt);

/** Once: a terminal that is shown again has been typed into. */
function takeWaiting(session: string | undefined): string | undefined {
  if (session === undefined) return undefined;
  const waiting = waitingCommands.get(session);
  if (waiting !== undefined) queueMicrotask(() => waitingCommands.delete(session));
  return waiting;
}

function CopyLink() {
  const [copied, setCopied] = useState(false);
  const copy = () => {
    const field = Object.assign(document.createElement("textarea"), { value: location.href });
    document.body.append(field);
    field.select();
    // Works at every origin; the newer interface at secure ones only.
    setCopied(document.execCommand("copy"));
    field.remove();
  };
  return (
    <button type="button" class="plain" onClick={copy} onBlur={() => setCopied(false)}>
      {copied ? "Link copied" : "Copy the link"}
    </button>
  );
}
