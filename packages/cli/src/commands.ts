import type { Command } from "commander";

/** The commands, each loaded only when it is used: a start costs what its own command costs. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  create: async () => (await import("./commands/create.ts")).createCommand(),
  exec: async () => (await import("./commands/exec.ts")).execCommand(),
  list: async () => (await import("./commands/list.ts")).listCommand(),
  inspect: async () => (await import("./commands/inspect.ts")).inspectCommand(),
  pause: async () => (await import("./commands/pause.ts")).pauseCommand(),
  resume: async () => (await import("./commands/resume.ts")).resumeCommand(),
  fork: async () => (await import("./commands/fork.ts")).forkCommand(),
  diff: async () => (await import("./commands/diff.ts")).diffCommand(),
  tree: async () => (await import("./commands/tree.ts")).treeCommand(),
  update: async () => (await import("./commands/update.ts")).updateCommand(),
  refresh: async () => (await import("./commands/refresh.ts")).refreshCommand(),
  wake: async () => (await import("./commands/wake.ts")).wakeCommand(),
  stop: async () => (await import("./commands/stop.ts")).stopCommand(),
  start: async () => (await import("./commands/start.ts")).startCommand(),
  remove: async () => (await import("./commands/remove.ts")).removeCommand(),
  cp: async () => (await import("./commands/cp.ts")).cpCommand(),
  logs: async () => (await import("./commands/logs.ts")).logsCommand(),
  events: async () => (await import("./commands/events.ts")).eventsCommand(),
  webhook: async () => (await import("./commands/webhook.ts")).webhookCommand(),
  image: async () => (await import("./commands/image.ts")).imageCommand(),
  capabilities: async () => (await import("./commands/capabilities.ts")).capabilitiesCommand(),
  info: async () => (await import("./commands/info.ts")).infoCommand(),
  daemon: async () => (await import("./commands/daemon.ts")).daemonCommand(),
  version: async () => (await import("./commands/version.ts")).versionCommand(),
};
