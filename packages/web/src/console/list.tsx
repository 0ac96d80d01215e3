import type { Sandbox } from "@torpor/contract";
import { formatBytes } from "../format/bytes.ts";
import { formatSpan } from "../format/duration.ts";
import { Plot } from "../parts/plot.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { pathTo } from "../router.ts";
import { now } from "../state/now.ts";
import { type History, histories } from "../state/stats.ts";

interface ListProps {
  readonly shown: readonly Sandbox[];
  readonly chosen: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], on: boolean) => void;
}

export function List({ shown, chosen, choose }: ListProps) {
  const all = shown.every(({ id }) => chosen.has(id));
  return (
    <table class="list">
      <thead>
        <tr>
          <th>
            <input
              type="checkbox"
              aria-label="Choose all that are shown"
              checked={all}
              indeterminate={!all && shown.some(({ id }) => chosen.has(id))}
              onChange={() =>
                choose(
                  shown.map(({ id }) => id),
                  !all,
                )
              }
            />
          </th>
          <th>Name</th>
          <th>State</th>
          <th class="number">Memory</th>
          <th class="number">CPU</th>
          <th class="number">Disk</th>
          <th class="number">Checkpoint</th>
          <th class="number">Age</th>
          <th class="number">Time left</th>
        </tr>
      </thead>
      <tbody>
        {shown.map((sandbox) => (
          <Row key={sandbox.id} sandbox={sandbox} chosen={chosen.has(sandbox.id)} choose={(on) => choose([sandbox.id], on)} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly sandbox: Sandbox;
  readonly chosen: boolean;
  readonly choose: (on: boolean) => void;
}

/** Looks that the small plots show: two minutes. */
const places = 60;

function Row({ sandbox, chosen, choose }: RowProps) {
  const { id, name, state, image, labels, checkpoint, createdAt, expiresAt, hardExpiresAt } = sandbox;
  const history = state === "running" ? histories.value.get(id) : undefined;
  const disk = histories.value.get(id)?.now.disk.usedBytes;
  const ends = [expiresAt, hardExpiresAt].flatMap((at) => (at === null || at === undefined ? [] : [Date.parse(at)]));
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Choose ${name}`} checked={chosen} onChange={(event) => choose(event.currentTarget.checked)} />
      </td>
      <td class="name">
        <div>
          <a href={pathTo(name)}>{name}</a>
          <p class="soft">{image.reference}</p>
          {Object.keys(labels).length === 0 ? null : (
            <ul class="labels">
              {Object.entries(labels).map(([label, value]) => (
                <li key={label}>
                  {label}={value}
                </li>
              ))}
            </ul>
          )}
        </div>
      </td>
      <td>
        <StateMark sandbox={sandbox} />
      </td>
      <td class={`number more ${history === undefined ? "nothing" : ""}`} data-label="Memory">
        <Memory history={history} />
      </td>
      <td class={`number more ${history === undefined ? "nothing" : ""}`} data-label="CPU">
        <Cpu history={history} />
      </td>
      <td class={`number more ${disk === undefined ? "nothing" : ""}`} data-label="Disk">
        {disk === undefined ? "—" : formatBytes(disk)}
      </td>
      <td class={`number more ${checkpoint === null ? "nothing" : ""}`} data-label="Checkpoint">
        {checkpoint === null ? "—" : formatBytes(checkpoint.storedBytes)}
      </td>
      <td class="number more" data-label="Age">
        {formatSpan(now.value - Date.parse(createdAt))}
      </td>
      <td class={`number more ${ends.length === 0 ? "nothing" : ""}`} data-label="Time left">
        {ends.length === 0 ? "—" : formatSpan(Math.max(0, Math.min(...ends) - now.value))}
      </td>
    </tr>
  );
}

function Memory({ history }: { readonly history: History | undefined }) {
  if (history === undefined) return <>—</>;
  const { usedBytes, limitBytes } = history.now.memory;
  return (
    <span class="usage">
      <Plot
        values={history.memory}
        most={limitBytes}
        places={places}
        label={`Memory: ${formatBytes(usedBytes)} of ${formatBytes(limitBytes)}`}
      />
      {formatBytes(usedBytes)}
    </span>
  );
}

function Cpu({ history }: { readonly history: History | undefined }) {
  if (history === undefined) return <>—</>;
  const { percent, limit } = history.now.cpu;
  return (
    <span class="usage">
      <Plot values={history.cpu} most={limit * 100} places={places} label={`CPU: ${Math.round(percent)} % of ${limit * 100} %`} />
      {Math.round(percent)} %
    </span>
  );
}
