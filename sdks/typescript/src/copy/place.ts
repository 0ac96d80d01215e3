/** A path in a sandbox. */
export interface SandboxPlace {
  readonly sandbox: string;
  readonly path: string;
}

/** `dir/.` means what is in the directory, not the directory. */
export function meansContent(path: string): boolean {
  return path === "." || path.endsWith("/.");
}

/** The last name of a path, without slashes and dots at its end. */
export function nameOf(path: string): string {
  return (
    path
      .replace(/(\/+\.?)+$/, "")
      .split("/")
      .at(-1) ?? ""
  );
}
