export { type Config, readConfig } from "./config.ts";
export { type Daemon, openDaemon } from "./compose.ts";
export { createLogger } from "./log.ts";
