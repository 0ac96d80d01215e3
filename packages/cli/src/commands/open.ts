import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TorporError } from "@torpor/sdk/calls";
import { Command, Option } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { say } from "../failure.ts";
import { print } from "../leave.ts";
import { pageLink } from "../page-link.ts";

interface OpenOptions {
  readonly browser?: boolean;
}

export function openCommand(): Command {
  const command = new Command("open")
    .description("print a link to the page that signs one browser in, once, within 5 minutes")
    .argument("[sandbox]", "id or name of the sandbox to show; default all of them")
    .addOption(new Option("--print", "print the link, which is the default").conflicts("browser"))
    .option("--browser", "open it in this computer's browser")
    .action(
      action(async (client, sandbox: string | undefined, { browser }: OpenOptions) => {
        const link = await pageLink(client, sandbox);
        if (browser === true) await show(link);
        else await print(`${link}\n`);
        return undefined;
      }),
    );
  return examples(command, ["torpor open", "torpor open --browser base"]);
}

/** Everybody on a host can read the arguments of programs, so the browser gets the name of a file that only its owner can read. */
async function show(link: string): Promise<void> {
  const directory = await mkdtemp(join(process.env.XDG_RUNTIME_DIR || tmpdir(), "torpor-open-"));
  const file = join(directory, "open.html");
  const document = `<!doctype html><meta charset="utf-8"><title>Torpor</title><meta http-equiv="refresh" content="0; url=${asHtml(link)}">`;
  await writeFile(file, document, { mode: 0o600 });
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [file], { stdio: "ignore", detached: true });
  await once(child, "spawn").catch((error: Error) => {
    throw new TorporError("invalid_request", `no browser could be opened: ${error.message}`, { hint: "torpor open prints a link instead" });
  });
  child.unref();
  say("opened the page in the browser");
}

function asHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
