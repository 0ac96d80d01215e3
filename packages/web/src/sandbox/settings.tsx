import type { Sandbox, TimeSettings } from "@torpor/contract";
import { useState } from "preact/hooks";
import { updateSandbox } from "../api/calls.ts";
import { formatBytes } from "../format/bytes.ts";
import { formatSpan, parseSpan, spanField } from "../format/duration.ts";
import { now } from "../state/now.ts";
import { putSandbox } from "../state/sandboxes.ts";
import { showError, showNote } from "../state/toasts.ts";
import { Figures } from "./figures.tsx";
import { Labels } from "./labels.tsx";

const fields = [
  ["ttlMs", "Runs for at most", "Then what is chosen below happens. A pause stops the clock."],
  ["idleMs", "Runs without use for at most", "Use is a command, a terminal, a file or a port."],
  ["hardTtlMs", "Is removed after", "From its creation on, in whatever state it is."],
] as const;

export function Settings({ sandbox }: { readonly sandbox: Sandbox }) {
  return (
    <div class="stack">
      <Figures sandbox={sandbox} />
      <Bounds key={sandbox.id} sandbox={sandbox} />
      <Labels key={`labels ${sandbox.id}`} sandbox={sandbox} />
      <dl class="sheet figures">
        <Fact name="Id">{sandbox.id}</Fact>
        <Fact name="Image">{sandbox.image.reference}</Fact>
        <Fact name="Engine">{sandbox.engine}</Fact>
        <Fact name="Memory">{formatBytes(sandbox.resources.memoryBytes)}</Fact>
        <Fact name="CPUs">{String(sandbox.resources.cpus)}</Fact>
        <Fact name="Disk">{formatBytes(sandbox.resources.diskBytes)}</Fact>
        <Fact name="Address">{sandbox.address ?? "no network"}</Fact>
        <Fact name="Generation">{String(sandbox.generation)}</Fact>
      </dl>
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Bounds({ sandbox }: { readonly sandbox: Sandbox }) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(fields.map(([field]) => [field, spanField(sandbox[field])])),
  );
  const [onTimeout, setOnTimeout] = useState(sandbox.onTimeout ?? "pause");
  const [autoResume, setAutoResume] = useState(sandbox.autoResume ?? false);
  const wrong = fields.filter(([field]) => texts[field] !== "" && parseSpan(texts[field] ?? "") === undefined);
  const save = async (event: Event) => {
    event.preventDefault();
    const spans = Object.fromEntries(fields.map(([field]) => [field, parseSpan(texts[field] ?? "") ?? null]));
    try {
      const wanted: TimeSettings = { ...spans, onTimeout, autoResume };
      putSandbox(await updateSandbox(sandbox.id, wanted));
      showNote(`${sandbox.name} has its new bounds`);
    } catch (error) {
      showError(error, `Change ${sandbox.name}`);
    }
  };
  return (
    <form class="sheet form" onSubmit={save} aria-label="How long it lives">
      <h2 class="wide">How long it lives</h2>
      {fields.map(([field, label, help]) => (
        <label key={field}>
          {label}
          <input
            value={texts[field]}
            placeholder="without end"
            onInput={(event) => setTexts({ ...texts, [field]: event.currentTarget.value })}
            aria-invalid={wrong.some(([one]) => one === field)}
          />
          <span class="help">{wrong.some(([one]) => one === field) ? "Write it as 30m, 8h or 7d; empty is without end." : help}</span>
        </label>
      ))}
      <label>
        When its time is over
        <select value={onTimeout} onChange={(event) => setOnTimeout(event.currentTarget.value as typeof onTimeout)}>
          <option value="pause">suspend it</option>
          <option value="stop">stop it</option>
          <option value="remove">remove it</option>
        </select>
        <span class="help">
          {sandbox.expiresAt ? `In ${formatSpan(Math.max(0, Date.parse(sandbox.expiresAt) - now.value))}.` : "It has no end now."}
        </span>
      </label>
      <label class="check wide">
        <input type="checkbox" checked={autoResume} onChange={(event) => setAutoResume(event.currentTarget.checked)} />
        Resume it by itself when somebody uses it
      </label>
      <div class="wide row">
        <button type="submit" class="fill" disabled={wrong.length > 0}>
          Save
        </button>
      </div>
    </form>
  );
}
