import { pino } from "pino";

export type Logger = ReturnType<typeof createLogger>;

/** JSON lines on stderr. Environments, file contents, tokens and credentials are never given to it. */
export function createLogger(level: string) {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
}
