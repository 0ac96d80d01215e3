import type { Info } from "@torpor/sdk/calls";
import { Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";
import { table } from "../table.ts";
import { formatSize } from "../values/size.ts";

export function infoCommand(): Command {
  const command = new Command("info")
    .description("show the daemon, its engine, pool and host")
    .option("--json", "print JSON")
    .action(
      action(async (client, options: { json?: boolean }) => {
        const info = await client.info();
        await (options.json === true ? printJson(info) : print(table(["WHAT", "IS"], rowsOf(info))));
        if (info.pool.warning !== null) say(`torpor: ${info.pool.warning}`);
        return undefined;
      }),
    );
  return examples(command, ["torpor info", "torpor info --json"]);
}

function rowsOf({
  version,
  instance,
  dataDirectory,
  engine,
  capabilities,
  pool,
  host,
  held,
  capacity,
  network,
  listening,
}: Info): string[][] {
  const missing = Object.entries(capabilities).filter(([, { supported }]) => !supported);
  return [
    ["version", version],
    ["instance", instance],
    ["data", dataDirectory],
    ["engine", `${engine.name} ${engine.version}`],
    ["engine binary", `${engine.path} (${engine.source})`],
    [
      "pool",
      `${pool.path}: ${pool.fileSystem}, ${pool.reflink ? "copy-on-write" : "real copies"}${pool.loopBacked ? ", loop-backed" : ""}`,
    ],
    ["pool free", `${formatSize(pool.freeBytes)} of ${formatSize(pool.sizeBytes)}`],
    ["host", `Linux ${host.kernel} ${host.architecture}, ${host.cpus} CPUs, ${formatSize(host.memoryBytes)}, cgroup ${host.cgroup}`],
    [
      "held by sandboxes",
      `${formatSize(held.memoryBytes)} of ${formatSize(capacity.memoryBytes)} memory, ${held.cpus} of ${capacity.cpus} CPUs`,
    ],
    ["network", `${network.subnet}, resolver ${network.resolver ?? "none"}`],
    ["listens on", listening.addresses.length === 0 ? "its socket alone" : listening.addresses.join(", ")],
    ...(listening.publicUrl === null ? [] : [["public URL", listening.publicUrl]]),
    ...missing.map(([name, { reason }]) => [`no ${name}`, reason]),
  ];
}
