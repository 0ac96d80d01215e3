import type { Sandbox } from "@torpor/contract";
import { formatBytes } from "../format/bytes.ts";
import { Plot } from "../parts/plot.tsx";
import { histories, keptLooks } from "../state/stats.ts";

/** What it uses now and has used in the last minutes. */
export function Figures({ sandbox }: { readonly sandbox: Sandbox }) {
  const history = histories.value.get(sandbox.id);
  if (history === undefined) return null;
  const { memory, cpu, disk, checkpointBytes, processes } = history.now;
  const percent = `${Math.round(cpu.percent)} %`;
  return (
    <dl class="sheet figures">
      <div>
        <dt>Memory</dt>
        <dd>
          {formatBytes(memory.usedBytes)} <span class="soft small">of {formatBytes(memory.limitBytes)}</span>
          <Plot
            values={history.memory}
            most={memory.limitBytes}
            places={keptLooks}
            width={160}
            height={36}
            label="Memory in the last minutes"
          />
        </dd>
      </div>
      <div>
        <dt>CPU</dt>
        <dd>
          {percent} <span class="soft small">of {cpu.limit * 100} %</span>
          <Plot values={history.cpu} most={cpu.limit * 100} places={keptLooks} width={160} height={36} label="CPU in the last minutes" />
        </dd>
      </div>
      <div>
        <dt>Disk</dt>
        <dd>
          {formatBytes(disk.usedBytes)} <span class="soft small">of {formatBytes(disk.limitBytes)}</span>
        </dd>
      </div>
      <div>
        <dt>Checkpoint</dt>
        <dd>{checkpointBytes > 0 ? formatBytes(checkpointBytes) : "none"}</dd>
      </div>
      <div>
        <dt>Processes</dt>
        <dd>{processes ?? "not known"}</dd>
      </div>
    </dl>
  );
}
