import { createInterface, type Interface } from "node:readline/promises";
import type { InterpreterLanguage, RunLine, TorporClient } from "@torpor/sdk/calls";
import { TorporError } from "@torpor/sdk/calls";
import { Argument, Command } from "commander";
import { action } from "../action.ts";
import { examples } from "../examples.ts";
import { print, write } from "../leave.ts";
import { needsMore } from "../needs-more.ts";
import { parseDuration } from "../values/duration.ts";

interface Place {
  readonly sandbox: string;
  readonly language: InterpreterLanguage;
  readonly timeoutMs: number | undefined;
}

export function replCommand(): Command {
  const command = new Command("repl")
    .description(
      "python or a shell that keeps its variables, from one use to the next, over pauses and in forks; what is piped into it is run at once",
    )
    .argument("<sandbox>", "id or name")
    .addArgument(new Argument("[language]", "python, the default, or sh").choices(["python", "sh"]).default("python"))
    .option("--timeout <duration>", "interrupt each run after this time; its variables are kept", parseDuration)
    .action(
      action(async (client, sandbox: string, language: string, { timeout }: { timeout?: number }) => {
        const place: Place = { sandbox, language: language === "sh" ? "shell" : "python", timeoutMs: timeout };
        return process.stdin.isTTY === true ? talk(client, place) : runOne(client, place, await allInput());
      }),
    );
  return examples(command, ["torpor repl base", "echo 'x = 41' | torpor repl base", "echo 'x + 1' | torpor repl base"]);
}

/** Until the end of the input: a line, or several that belong together, at a time. */
async function talk(client: TorporClient, place: Place): Promise<number> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: ">>> " });
  let code = "";
  let running = false;
  lines.on("SIGINT", () => {
    if (running) return void interrupt(client, place);
    code = "";
    drop(lines);
  });
  // ^D while a run is at work: what runs is waited for, and then nothing is asked any more.
  let over = false;
  lines.once("close", () => {
    over = true;
  });
  lines.prompt();
  for await (const line of lines) {
    code += `${line}\n`;
    const more = place.language === "python" ? needsMore(code) : line.endsWith("\\");
    if (!more) {
      running = true;
      if (code.trim() !== "") await runOne(client, place, code);
      running = false;
      code = "";
    }
    lines.setPrompt(more ? "... " : ">>> ");
    if (!over) lines.prompt();
  }
  await print("\n");
  return 0;
}

/** What is typed at the prompt, and the lines before that belong to it. It stays to be read, as in a shell. */
function drop(lines: Interface): void {
  lines.write(null, { ctrl: true, name: "e" });
  process.stdout.write("^C\n");
  lines.setPrompt(">>> ");
  lines.write(null, { ctrl: true, name: "u" });
}

async function runOne(client: TorporClient, { sandbox, language, timeoutMs }: Place, code: string): Promise<number> {
  const request = { code, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  for await (const line of client.interpreters.lines(sandbox, language, request)) {
    if ("end" in line) return conclude(line.end);
    if ("stdout" in line) await print(line.stdout);
    else await write(process.stderr, line.stderr);
  }
  return 1;
}

async function conclude({ result, error, exitCode }: Extract<RunLine, { end: unknown }>["end"]): Promise<number> {
  if (result !== null) await print(`${result}\n`);
  if (error !== null) await write(process.stderr, error.traceback === "" ? `${error.name}: ${error.message}\n` : error.traceback);
  return exitCode ?? (error === null ? 0 : 1);
}

async function interrupt(client: TorporClient, { sandbox, language }: Place): Promise<void> {
  const session = (await client.sessions(sandbox)).find(({ id }) => id.startsWith(`se_${language}`));
  try {
    if (session !== undefined) await client.signal(sandbox, session.id, "INT");
  } catch (error) {
    if (!(error instanceof TorporError)) throw error;
  }
}

async function allInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
