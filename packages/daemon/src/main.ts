#!/usr/bin/env node
import { closeSync, writeSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { startSmall } from "./host/heap.ts";

// Before anything else is imported: compiled code is kept between starts. In /tmp, the default, others could put theirs.
enableCompileCache("/var/cache/torpor");
const startedSmall = startSmall();
const { TorporError } = await import("@torpor/contract");
const { readConfig } = await import("./config.ts");
const { openDaemon } = await import("./compose.ts");
const { createLogger } = await import("./log.ts");
const { tellReady } = await import("./host/tell-ready.ts");

try {
  const config = readConfig(process.argv.slice(2), process.env);
  // It may hold a password, and every program that is started gets the environment.
  delete process.env.TORPOR_STORE;
  // And what it starts has nothing to tell systemd.
  const { NOTIFY_SOCKET: notifySocket } = process.env;
  delete process.env.NOTIFY_SOCKET;
  const log = createLogger(config.logLevel);
  const daemon = await openDaemon(config, log);
  // Before anybody can know that it runs, and end it.
  let ending = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, async () => {
      if (ending) {
        return;
      }
      ending = true;
      log.info({ signal }, "torpord ends; sandboxes that run go on");
      try {
        await daemon.close();
        process.exit(0);
      } catch (error) {
        log.error({ err: error }, "torpord could not free everything");
        process.exit(1);
      }
    });
  }
  await daemon.listen();
  startedSmall();
  log.info({ socket: config.socketPath, addresses: daemon.addresses }, "torpord listens");
  if (config.readyFd !== undefined) {
    writeSync(config.readyFd, "ready\n");
    closeSync(config.readyFd);
  }
  // systemd's program fails when a busy host does not confirm within 5 s what it was told: no reason to end what serves already.
  await tellReady(notifySocket).catch((error: unknown) => log.error({ err: error }, "systemd did not confirm that torpord is ready"));
} catch (error) {
  const known = error instanceof TorporError;
  process.stderr.write(
    `torpord: ${known ? error.message : (error as Error).stack}\n${known && error.hint !== undefined ? `hint: ${error.hint}\n` : ""}`,
  );
  process.exit(1);
}
