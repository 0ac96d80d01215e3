import { type NodeStats, type SandboxStats, TorporError } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, printJson } from "../leave.ts";
import { table } from "../table.ts";
import { formatSize } from "../values/size.ts";

interface Options {
  once?: boolean;
  quiet?: boolean;
  json?: boolean;
}

export function topCommand(): Command {
  const command = new Command("top")
    .description("show what sandboxes use: memory, CPU, processes, disk, network; again each 2 s on a terminal")
    .argument("[sandbox...]", "only these: ids or names")
    .option("--once", "print it once; the default when the output is no terminal")
    .option("-q, --quiet", "no line about the pool, and no head")
    .option("--json", "print JSON: once, or with a line each 2 s on a terminal")
    .action(
      action(async (client, wanted: string[], options: Options) => {
        if (options.once === true || !process.stdout.isTTY) {
          await once(only(await client.stats.all(), wanted), options);
          return undefined;
        }
        for await (const stats of client.stats.follow()) await again(only(stats, wanted), options);
        return undefined;
      }),
    );
  return examples(command, ["torpor top", "torpor top --once base", "torpor top --once --json"]);
}

function only(stats: NodeStats, wanted: readonly string[]): NodeStats {
  const unknown = wanted.find((one) => !stats.sandboxes.some(({ id, name }) => one === id || one === name));
  if (unknown !== undefined) {
    throw new TorporError("sandbox_not_found", `there is no sandbox ${unknown}`, { hint: "torpor list shows all." });
  }
  if (wanted.length === 0) return stats;
  return { ...stats, sandboxes: stats.sandboxes.filter(({ id, name }) => wanted.includes(id) || wanted.includes(name)) };
}

async function once(stats: NodeStats, { json, quiet }: Options): Promise<void> {
  if (json === true) await printJson(stats);
  else await print(textOf(stats, quiet === true));
}

/** Over what stood there, so that a reader's eye stays where it is. */
async function again(stats: NodeStats, { json, quiet }: Options): Promise<void> {
  if (json === true) await print(`${JSON.stringify(stats)}\n`);
  else await print(`\x1b[H\x1b[2J${textOf(stats, quiet === true)}`);
}

function textOf({ sandboxes, pool }: NodeStats, quiet: boolean): string {
  const rows = table(
    ["NAME", "STATE", "CPU %", "MEMORY", "OF", "PROCESSES", "DISK", "CHECKPOINT", "RECEIVED", "SENT"],
    sandboxes.map(rowOf),
  );
  if (quiet) return rows.slice(rows.indexOf("\n") + 1);
  return `pool: ${formatSize(pool.freeBytes)} of ${formatSize(pool.sizeBytes)} free\n${rows}`;
}

function rowOf({ name, state, cpu, memory, processes, disk, checkpointBytes, network }: SandboxStats): string[] {
  const size = (bytes: number | undefined) => (bytes === undefined ? "-" : formatSize(bytes));
  return [
    name,
    state,
    cpu.percent.toFixed(1),
    formatSize(memory.usedBytes),
    formatSize(memory.limitBytes),
    processes === null ? "?" : String(processes),
    formatSize(disk.usedBytes),
    formatSize(checkpointBytes),
    size(network?.receivedBytes),
    size(network?.sentBytes),
  ];
}
