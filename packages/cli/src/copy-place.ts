import { TorporError } from "@torpor/sdk/calls";

export interface Place {
  /** Undefined: a path of this host. */
  readonly sandbox: string | undefined;
  readonly path: string;
}

/** SANDBOX:PATH, or a path here: what stands before the first colon is a sandbox when it could be a name. */
export function parsePlace(text: string): Place {
  const [, sandbox, path] = /^([a-z0-9][a-z0-9_-]{0,62}):(.*)$/s.exec(text) ?? [];
  if (sandbox === undefined) {
    if (text === "") throw new TorporError("invalid_path", "a path is empty");
    return { sandbox: undefined, path: text };
  }
  if (path === undefined || path === "")
    throw new TorporError("invalid_path", `no path stands after ${sandbox}:`, { hint: `Write ${sandbox}:/ for its root.` });
  return { sandbox, path };
}
