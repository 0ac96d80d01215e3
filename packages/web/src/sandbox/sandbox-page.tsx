import type { Sandbox } from "@torpor/contract";
import { useEffect } from "preact/hooks";
import { addShortcuts } from "../keys.ts";
import { StateMark } from "../parts/state-mark.tsx";
import { type Place, pathTo, type Tab, tabs } from "../router.ts";
import { findSandbox, refresh, sandboxes } from "../state/sandboxes.ts";
import { Actions } from "./actions.tsx";
import { fork, toggle } from "./deeds.ts";
import { Files } from "./files.tsx";
import { Missing } from "./missing.tsx";
import { Ports } from "./ports.tsx";
import { Sessions } from "./sessions.tsx";
import { Settings } from "./settings.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Terminals } from "./terminals.tsx";
import { Timeline } from "./timeline.tsx";

type SandboxPlace = Extract<Place, { at: "sandbox" }>;

const titles: Readonly<Record<Tab, string>> = {
  terminal: "Terminal",
  sessions: "Sessions",
  timeline: "Timeline",
  files: "Files",
  snapshots: "Snapshots",
  ports: "Ports",
  settings: "Settings",
};

export function SandboxPage(place: SandboxPlace) {
  const sandbox = findSandbox(place.name);
  useEffect(() => {
    document.title = `${place.name} · Torpor`;
    return () => {
      document.title = "Torpor";
    };
  }, [place.name]);
  const id = sandbox?.id;
  useEffect(() => {
    // On a phone not all tabs are in sight.
    document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [place.tab, id]);
  useEffect(() => {
    if (id !== undefined) refresh(id).catch(() => {});
    const here = () => findSandbox(place.name);
    return addShortcuts([
      { keys: "p", does: "Suspend it, or resume it", run: () => here() && toggle(here() as Sandbox) },
      { keys: "f", does: "Fork it, and show the child beside it", run: () => here() && fork(here() as Sandbox, place.session) },
      ...tabs.map((tab, i) => ({ keys: String(i + 1), does: titles[tab], run: () => go(place.name, tab) })),
    ]);
  }, [id, place.session, place.name]);
  if (sandbox === undefined)
    return sandboxes.value === undefined ? <p class="soft">Looking for {place.name}…</p> : <Missing name={place.name} />;
  return (
    <>
      <header class="head">
        <div class="row">
          <h1>{sandbox.name}</h1>
          <StateMark sandbox={sandbox} />
          <span class="soft small">{sandbox.image.reference}</span>
        </div>
        <Actions sandbox={sandbox} session={place.session} />
      </header>
      <nav class="tabs" aria-label={`Of ${sandbox.name}`}>
        {tabs.map((tab) => (
          <a key={tab} href={pathTo(sandbox.name, tab)} {...(tab === place.tab ? { "aria-current": "page" as const } : {})}>
            {titles[tab]}
          </a>
        ))}
      </nav>
      <Shown sandbox={sandbox} place={place} />
    </>
  );
}

function Shown({ sandbox, place }: { readonly sandbox: Sandbox; readonly place: SandboxPlace }) {
  switch (place.tab) {
    case "terminal":
      return <Terminals sandbox={sandbox} session={place.session} beside={place.beside} />;
    case "sessions":
      return <Sessions sandbox={sandbox} />;
    case "timeline":
      return <Timeline id={sandbox.id} operationId={sandbox.operation?.id} />;
    case "files":
      return <Files sandbox={sandbox} directory={place.directory} />;
    case "snapshots":
      return <Snapshots sandbox={sandbox} />;
    case "ports":
      return <Ports sandbox={sandbox} />;
    case "settings":
      return <Settings sandbox={sandbox} />;
  }
}

function go(name: string, tab: Tab): void {
  document.querySelector<HTMLAnchorElement>(`.tabs a[href="${pathTo(name, tab)}"]`)?.click();
}
