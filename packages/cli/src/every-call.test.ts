import type { RouteName } from "@torpor/sdk/calls";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "./app.ts";

/** The command that makes each call of the API, or why there is none. A new call needs a line here. */
const commandOf: Readonly<Record<RouteName, string>> = {
  createSandbox: "create",
  listSandboxes: "list",
  getSandbox: "inspect",
  updateSandbox: "update",
  refreshSandbox: "refresh",
  removeSandbox: "remove",
  pauseSandbox: "pause",
  resumeSandbox: "resume",
  stopSandbox: "stop",
  startSandbox: "start",
  forkSandbox: "fork",
  tree: "tree",
  diffSandbox: "diff",
  sandboxLogs: "logs",
  getOperation: "operation get",
  cancelOperation: "operation cancel",
  listOperations: "operation list",
  listEvents: "events",
  events: "events",
  exec: "exec",
  execSocket: "exec",
  startSession: "exec",
  listSessions: "sessions",
  getSession: "(by the API)",
  removeSession: "kill",
  signalSession: "kill",
  resizeSession: "(the size of this terminal is followed)",
  attachSession: "attach",
  listPorts: "port list",
  exposePort: "port expose",
  unexposePort: "port remove",
  connectPort: "port forward",
  readFile: "file read",
  writeFile: "file write",
  removeFile: "file remove",
  statFile: "file stat",
  listFiles: "file list",
  watchFiles: "file watch",
  makeDirectory: "file mkdir",
  moveFile: "file move",
  readArchive: "cp",
  writeArchive: "cp",
  listImages: "image list",
  pullImage: "image pull",
  importImage: "image import",
  buildImage: "image build",
  removeImage: "image remove",
  pruneImages: "image prune",
  createSnapshot: "snapshot create",
  listSnapshots: "snapshot list",
  getSnapshot: "snapshot inspect",
  updateSnapshot: "snapshot label",
  removeSnapshot: "snapshot remove",
  restoreSandbox: "snapshot restore",
  rebaseSandbox: "rebase",
  rollbackSandbox: "rebase",
  createWebhook: "webhook create",
  listWebhooks: "webhook list",
  getWebhook: "webhook inspect",
  removeWebhook: "webhook remove",
  pauseWebhook: "webhook pause",
  enableWebhook: "webhook enable",
  testWebhook: "webhook test",
  listDeliveries: "webhook deliveries",
  createWake: "wake add",
  listWakes: "wake list",
  removeWake: "wake remove",
  callWake: "(for who has the address, with curl)",
  callWakeByPut: "(for who has the address, with curl)",
  callWakeByGet: "(for who has the address, with curl)",
  capabilities: "capabilities",
  info: "info",
  health: "daemon status",
  version: "version",
  openapi: "(for programs)",
  startSupervised: "sessions start",
  stopSupervised: "sessions stop",
  restartSupervised: "sessions restart",
  writeSession: "attach",
  createInterpreter: "repl",
  runCode: "repl",
  sandboxStats: "top",
  stats: "top",
  usage: "usage",
  healthz: "(for programs)",
  metrics: "(for programs)",
  createToken: "token create",
  listTokens: "token list",
  revokeToken: "token revoke",
  listTeams: "team list",
  setTeamLimits: "team limits",
  topUpTeam: "team credit",
  getPrices: "team prices",
  setPrices: "team prices",
  createLoginCode: "open",
  login: "(by the page)",
  logout: "(by the page)",
  whoami: "login",
};

test("every call of the API has its command", async () => {
  const known = new Set((await createProgram()).commands.flatMap((command) => pathsOf(command, "")));
  const commands = Object.values(commandOf).filter((command) => !command.startsWith("("));
  expect(commands.filter((command) => !known.has(command))).toEqual([]);
});

/** What prints no record and no outcome: streams, terminals, and what concerns this machine alone. */
const withoutJson = new Set(
  "run,shell,attach,repl,port forward,cp,file read,logs,open,login,context use,context remove,daemon start,daemon stop,completion".split(
    ",",
  ),
);

test("every command that prints a record or an outcome does so as JSON too", async () => {
  const leaves = (command: Command, before: string): [string, Command][] =>
    command.commands.length === 0
      ? [[`${before}${command.name()}`, command]]
      : command.commands.flatMap((inner) => leaves(inner, `${before}${command.name()} `));
  const without = (await createProgram()).commands
    .flatMap((command) => leaves(command, ""))
    .filter(([, { options }]) => !options.some(({ long }) => long === "--json"))
    .map(([path]) => path);
  expect(new Set(without)).toEqual(withoutJson);
});

function pathsOf(command: Command, before: string): string[] {
  const path = `${before}${command.name()}`;
  return [path, ...command.commands.flatMap((inner) => pathsOf(inner, `${path} `))];
}
