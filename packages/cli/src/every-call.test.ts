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
  listSessions: "(by the API)",
  getSession: "(by the API)",
  removeSession: "kill",
  signalSession: "kill",
  resizeSession: "(the size of this terminal is followed)",
  attachSession: "logs",
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
};

test("every call of the API has its command", async () => {
  const known = new Set((await createProgram()).commands.flatMap((command) => pathsOf(command, "")));
  const commands = Object.values(commandOf).filter((command) => !command.startsWith("("));
  expect(commands.filter((command) => !known.has(command))).toEqual([]);
});

function pathsOf(command: Command, before: string): string[] {
  const path = `${before}${command.name()}`;
  return [path, ...command.commands.flatMap((inner) => pathsOf(inner, `${path} `))];
}
