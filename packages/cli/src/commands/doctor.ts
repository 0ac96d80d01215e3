import { Command } from "commander";
import { siteOf } from "../daemon/site.ts";
import type { Finding } from "../doctor/check.ts";
import { examine } from "../doctor/looks.ts";
import { thisHost } from "../doctor/this-host.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print, printJson } from "../leave.ts";

export function doctorCommand(): Command {
  const command = new Command("doctor")
    .description("look at this host for what keeps torpord from working, and say how to mend it; exit code 1 if there is any")
    .option("--data <directory>", "torpord's data directory; default $TORPOR_DATA, else /var/lib/torpor")
    .option("--json", "print the findings as JSON")
    .action(async function (this: Command, { json }: { json?: boolean }) {
      const findings = await examine(thisHost(siteOf(this)));
      const faults = findings.filter(({ state }) => state === "fault").length;
      process.exitCode = faults === 0 ? 0 : 1;
      if (json === true) return printJson(findings);
      await print(findings.map(textOf).join(""));
      say(faults === 0 ? "nothing keeps torpord from working here" : `${faults} to mend`);
    });
  return examples(command, ["torpor doctor", "torpor doctor --json"]);
}

const words: Readonly<Record<Finding["state"], string>> = { ok: "ok", notice: "note", fault: "FAULT" };

function textOf({ name, state, found, mend }: Finding): string {
  return `${words[state].padEnd(6)} ${name}: ${found}\n${mend === undefined ? "" : `       ${mend}\n`}`;
}
