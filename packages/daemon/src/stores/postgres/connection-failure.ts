/** Of the server: class 08, and those that it ends or refuses connections with (PostgreSQL's appendix A). */
const serverCodes = /^(08...|57P01|57P02|57P03|53300)$/;
/** Of the way to it; ENOENT: its Unix socket is gone while it is down. */
const wayCodes: readonly string[] = [
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
];
/** pg's own, which have no code. */
const words = /connection terminated|not queryable|connection error|timeout exceeded when trying to connect/i;

/** Whether the connection failed, rather than what was asked over it. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return serverCodes.test(code) || wayCodes.includes(code);
  return words.test(error.message);
}

/** Two transactions stood in each other's way, and this one was undone: it may simply be done again. */
export function isRepeatable(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === "40001" || code === "40P01";
}
