import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { WebhookReceiver } from "@torpor/daemon/testing";
import { TorporClient } from "@torpor/sdk";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type Server, startServer } from "../../packages/cli/src/testing/server.ts";
import { typeOn } from "../../packages/cli/src/testing/terminal.ts";
import { type Block, blocksFor, root } from "./blocks.ts";
import { readersShell } from "./shell.ts";
import { likeness, shownIn } from "./shown.ts";

let server: Server;
let client: TorporClient;
let receiver: WebhookReceiver;
/** What a document says that is another thing here, and what took its place; of two that begin alike the longer one first. */
let names: Map<string, string>;
let shell: ReturnType<typeof readersShell>;

beforeAll(async () => {
  server = await startServer({ tcp: true });
  client = new TorporClient({ socket: server.socket });
  receiver = await WebhookReceiver.open();
  await client.create({ image: "debian", name: "base" });
});
afterAll(async () => {
  client.close();
  await receiver[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  shell = readersShell({ TORPOR_SOCKET: server.socket });
  names = new Map([
    ["https://example.org/hook", receiver.url],
    ["https://torpor.example.org", server.url],
    ["torpor.example.org", new URL(server.url).host],
    ["4711", "0"],
  ]);
});

/** In one pass: what took a word's place may itself look like another word (a port with 4711 in it). */
const here = (text: string) => text.replaceAll(anyOf(names.keys()), (word) => names.get(word) ?? word);
const anyOf = (words: Iterable<string>) => new RegExp([...words].map((word) => word.replaceAll(".", "\\.")).join("|"), "g");

test.each(blocksFor(import.meta.url))("$document:$line, $language: does what it says", async (block) => {
  if (block.language === "sh") await bash(here(block.text));
  else if (block.language === "ts") await runProgram(block);
  else for (const { command, output } of shownIn(block)) await show(command, output);
});

async function show(command: string, output: readonly string[]): Promise<void> {
  const printed = await printedBy(
    here(command),
    output.map((line) => likeness(here(line))),
  );
  for (const line of output) {
    expect(printed.map((each) => each.trimEnd())).toContainEqual(expect.stringMatching(likeness(here(line))));
    // From here on the document calls by this name what was made.
    const [id] = /^[a-z]+_[a-z]{16}$/.exec(line) ?? [];
    if (id !== undefined) names.set(id, printed.find((each) => likeness(line).test(each)) ?? "");
  }
}

async function printedBy(command: string, wanted: readonly RegExp[]): Promise<string[]> {
  if (command.includes("torpor login")) return login(command);
  if (/ -f\b/.test(command)) return followed("bash", ["-c", `exec ${command}`], wanted);
  return (await bash(command)).split("\n");
}

async function bash(commands: string): Promise<string> {
  return (await promisify(execFile)("bash", ["-euc", commands], shell)).stdout;
}

/** Until something is told of what happens, and each wanted line is among it. */
async function followed(program: string, args: readonly string[], wanted: readonly RegExp[]): Promise<string[]> {
  const child = spawn(program, args, { ...shell, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines: string[] = [];
  const told = (async () => {
    for await (const line of createInterface(child.stdout)) {
      lines.push(line.trimEnd());
      if (wanted.every((one) => lines.some((each) => one.test(each)))) return;
    }
  })();
  let over = false;
  const happening = (async () => {
    for (let state = "pause" as "pause" | "resume"; !over; state = state === "pause" ? "resume" : "pause") await client[state]("base");
  })();
  await told;
  over = true;
  child.kill("SIGINT");
  await happening;
  if ((await client.get("base")).state === "paused") await client.resume("base");
  await ended;
  return lines;
}

/** On a terminal, with a token that counts. */
async function login(command: string): Promise<string[]> {
  const { secret, token } = await client.access.createToken({ name: "typed" });
  onTestFinished(() => client.access.revokeToken(token.id));
  vi.stubEnv("XDG_CONFIG_HOME", shell.env.XDG_CONFIG_HOME);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { code, text } = await typeOn(server, command, [{ await: "token:", type: `${secret}\n` }]);
  expect({ code, text }).toEqual({ code: 0, text: expect.not.stringContaining(secret) });
  return text.split(/\r?\n/);
}

/** Below the checkout, where the package is found by its name. */
async function runProgram({ text }: Block): Promise<void> {
  const directory = mkdtempSync(path.join(root, "test/documents/program-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(path.join(directory, "program.ts"), text);
  const first = /^\d+ sandbox\.created$/;
  expect(await followed(process.execPath, [path.join(directory, "program.ts")], [first])).toContainEqual(expect.stringMatching(first));
}
