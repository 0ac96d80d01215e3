import type { Sandbox, Session } from "@torpor/contract";
import { useCallback, useEffect, useState } from "preact/hooks";
import { changeSession, listSessions, removeSession } from "../api/calls.ts";
import { confirmed } from "../parts/confirm.tsx";
import { pathTo } from "../router.ts";
import { onEvent } from "../state/live.ts";
import { now } from "../state/now.ts";
import { showError } from "../state/toasts.ts";
import { type Deed, deedsOf, factsOf, isAtWork, isPassing, stateOf } from "./kept-running.ts";

/** What is about to change is looked at so often, and not for ever: each look counts as use of the sandbox, which would never idle. */
const lookMs = 1000;
const mostLooks = 120;

/** What was started in it: what is kept running can be started, stopped and restarted. */
export function Sessions({ sandbox }: { readonly sandbox: Sandbox }) {
  const { id, state } = sandbox;
  const { sessions, load } = useSessions(sandbox);
  const [busy, setBusy] = useState("");
  if (state !== "running") {
    return (
      <div class="empty">
        <h2>It does not run now</h2>
        <p>
          What was started in it is shown once it runs. With its memory every process goes on; what is supervised is begun anew otherwise.
        </p>
      </div>
    );
  }
  const run = async (deed: Deed, session: Session) => {
    if (deed === "remove" && isAtWork(session) && !(await confirmed("End it and remove it?", `${nameOf(session)} still runs.`, "Remove")))
      return;
    setBusy(session.id);
    try {
      await (deed === "remove" ? removeSession(id, session.id) : changeSession(id, session.id, deed));
    } catch (error) {
      showError(error, `${titles[deed]} ${nameOf(session)}`);
    }
    setBusy("");
    await load();
  };
  if (sessions?.length === 0) return <NoSession name={sandbox.name} />;
  return (
    <ul class="stack">
      {sessions?.map((session) => (
        <SessionItem
          key={session.id}
          sandbox={sandbox}
          session={session}
          busy={busy === session.id}
          onDeed={(deed) => run(deed, session)}
        />
      ))}
    </ul>
  );
}

const titles: Readonly<Record<Deed, string>> = { start: "Start", stop: "Stop", restart: "Restart", remove: "Remove" };

interface SessionItemProps {
  readonly sandbox: Sandbox;
  readonly session: Session;
  readonly busy: boolean;
  readonly onDeed: (deed: Deed) => void;
}

function SessionItem({ sandbox, session, busy, onDeed }: SessionItemProps) {
  const reason = session.supervision?.reason ?? null;
  return (
    <li class="sheet row apart">
      <div>
        <div class="row">
          <h2 class="mono">{nameOf(session)}</h2>
          <span class={`state ${markOf(session)}`}>{stateOf(session)}</span>
        </div>
        <p class="soft small">
          {[
            ...factsOf(session, now.value),
            session.terminal ? "terminal" : "pipes",
            `since ${new Date(session.startedAt).toLocaleString()}`,
          ].join(" · ")}
        </p>
        {reason === null ? null : <p class="fault">{reason}</p>}
      </div>
      <div class="row">
        <a class="button" href={pathTo(sandbox.name, "terminal", session.id)}>
          Show
        </a>
        {deedsOf(session).map((deed) => (
          <button key={deed} type="button" class={deed === "remove" ? "bad" : ""} disabled={busy} onClick={() => onDeed(deed)}>
            {titles[deed]}
          </button>
        ))}
      </div>
    </li>
  );
}

function NoSession({ name }: { readonly name: string }) {
  return (
    <div class="empty">
      <h2>Nothing was started in it</h2>
      <p>Open a terminal, or have a command kept running: it is started again when it ends, and after a boot.</p>
      <pre>torpor exec --supervise always {name} -- COMMAND</pre>
    </div>
  );
}

function markOf(session: Session): string {
  if (session.supervision?.state === "failed") return "failed";
  if (!isAtWork(session)) return "stopped";
  return isPassing(session) ? "running busy" : "running";
}

function nameOf({ argv }: Session): string {
  const text = argv.join(" ");
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Only of a sandbox that runs: one that wakes for calls would be woken. What is kept running comes first. */
function useSessions({ id, state, generation }: Sandbox) {
  const [sessions, setSessions] = useState<readonly Session[] | undefined>(undefined);
  const [looks, setLooks] = useState(0);
  const load = useCallback(() => {
    setLooks(0);
    return listSessions(id).then(
      (all) => setSessions(all.sort(byKind)),
      (error) => showError(error, "List the sessions"),
    );
  }, [id]);
  useEffect(() => {
    setSessions(undefined);
    if (state !== "running") return;
    void load();
    return onEvent((about) => {
      if (about === id) void load();
    });
  }, [load, id, state, generation]);
  useEffect(() => {
    if (state !== "running" || looks >= mostLooks || sessions?.some(isPassing) !== true) return;
    const timer = setTimeout(() => {
      listSessions(id).then(
        (all) => setSessions(all.sort(byKind)),
        () => {},
      );
      setLooks(looks + 1);
    }, lookMs);
    return () => clearTimeout(timer);
  }, [id, state, sessions, looks]);
  return { sessions, load };
}

const byKind = (a: Session, b: Session) =>
  Number(a.supervision === undefined) - Number(b.supervision === undefined) || Date.parse(a.startedAt) - Date.parse(b.startedAt);
