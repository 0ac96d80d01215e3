import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type ClientOptions, TorporError } from "@torpor/sdk/calls";

/** A daemon elsewhere, and what lets one in there. */
export interface Context {
  readonly url: string;
  readonly token: string;
}

export interface Contexts {
  /** undefined: the daemon of this host. */
  readonly current: string | undefined;
  readonly known: Readonly<Record<string, Context>>;
}

/** The name for the daemon of this host. */
export const local = "local";

type Environment = Readonly<Record<string, string | undefined>>;

/** The daemon to speak to: what the environment names wins over what was kept. */
export function choose(environment: Environment): ClientOptions {
  if (environment.TORPOR_URL) return {};
  const named = environment.TORPOR_CONTEXT;
  // Whoever names a socket or data directory means the daemon there.
  if (!named && (environment.TORPOR_SOCKET || environment.TORPOR_DATA)) return {};
  const contexts = readContexts(environment);
  const name = named || contexts.current;
  if (name === undefined || name === local) return {};
  const { url, token } = find(contexts, name);
  return { url, token: environment.TORPOR_TOKEN || token };
}

export function find({ known }: Contexts, name: string): Context {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  throw new TorporError("invalid_request", `there is no context ${name}`, {
    hint: "torpor context list shows what there is; torpor login URL adds one",
  });
}

export function readContexts(environment: Environment): Contexts {
  const path = pathOf(environment);
  try {
    const { current, contexts } = JSON.parse(readFileSync(path, "utf8")) as { current?: string; contexts?: Record<string, Context> };
    return { current, known: contexts ?? {} };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: undefined, known: {} };
    throw new TorporError("invalid_path", `${path} can't be read: ${(error as Error).message}`, {
      hint: "mend it, or remove it and sign in again with torpor login URL",
    });
  }
}

/** Only its owner may read it: it has tokens. */
export function writeContexts(environment: Environment, { current, known }: Contexts): void {
  const path = pathOf(environment);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...(current === undefined ? {} : { current }), contexts: known }, null, 2)}\n`;
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function pathOf(environment: Environment): string {
  return join(environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), ".config"), "torpor", "contexts.json");
}
