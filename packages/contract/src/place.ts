type Environment = Readonly<Record<string, string | undefined>>;

/** Where the daemon keeps all it has: TORPOR_DATA, else /var/lib/torpor. */
export function dataDirectory(environment: Environment): string {
  return environment.TORPOR_DATA || "/var/lib/torpor";
}

/** The socket that its owner's clients speak to: TORPOR_SOCKET, else in the data directory. */
export function socketPath(environment: Environment): string {
  return environment.TORPOR_SOCKET || `${dataDirectory(environment)}/torpord.sock`;
}

/** Longest path of a Unix socket on Linux, in bytes: sun_path has 108 with its final NUL. */
export const socketPathLimitBytes = 107;
