import { signal } from "@preact/signals";
import type { SandboxState } from "@torpor/contract";
import { useMemo, useState } from "preact/hooks";
import { formatBytes } from "../format/bytes.ts";
import { launchOpen } from "../keys.ts";
import { newestFirst, sandboxes } from "../state/sandboxes.ts";
import { pool } from "../state/stats.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { type Filter, matches } from "./filter.ts";
import { Hero } from "./hero.tsx";
import { List } from "./list.tsx";

/** Those in which a sandbox stays; the others pass. */
const states: readonly SandboxState[] = ["running", "paused", "stopped", "failed"];

/** Kept while the page is: who comes back from a sandbox finds the list as it was left. */
const kept = signal<Filter>({ text: "", state: "any" });

export function Console() {
  const filter = kept.value;
  const setFilter = (next: Filter) => {
    kept.value = next;
  };
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const all = newestFirst.value;
  const room = pool.value;
  const shown = useMemo(() => all.filter((sandbox) => matches(sandbox, filter)), [all, filter]);
  if (sandboxes.value === undefined) return <p class="soft">Looking…</p>;
  if (all.length === 0) return <Hero />;
  const choose = (ids: readonly string[], on: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) on ? next.add(id) : next.delete(id);
    setChosen(next);
  };
  const picked = shown.filter(({ id }) => chosen.has(id));
  return (
    <>
      <div class="head">
        <div class="row">
          <h1>Sandboxes</h1>
          {room === undefined ? null : (
            <span class="soft small">
              {formatBytes(room.freeBytes)} of {formatBytes(room.sizeBytes)} free on the pool
            </span>
          )}
        </div>
        <button
          type="button"
          class="fill"
          onClick={() => {
            launchOpen.value = true;
          }}
        >
          Launch sandbox
        </button>
      </div>
      <search class="filters">
        <input
          type="search"
          aria-label="Search by name, image or label"
          placeholder="Name, image, or label=value"
          value={filter.text}
          onInput={(event) => setFilter({ ...filter, text: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={filter.state}
          onChange={(event) => setFilter({ ...filter, state: event.currentTarget.value as Filter["state"] })}
        >
          <option value="any">every state</option>
          {states.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <span class="soft small" role="status">
          {shown.length === all.length ? `${all.length}` : `${shown.length} of ${all.length}`}
        </span>
      </search>
      {picked.length === 0 ? null : <BulkBar picked={picked} onDone={() => setChosen(new Set())} />}
      {shown.length === 0 ? (
        <div class="empty">
          <h2>None of them matches</h2>
          <button type="button" onClick={() => setFilter({ text: "", state: "any" })}>
            Show all {all.length}
          </button>
        </div>
      ) : (
        <List shown={shown} chosen={chosen} choose={choose} />
      )}
    </>
  );
}
