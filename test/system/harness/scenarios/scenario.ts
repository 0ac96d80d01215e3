import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { matches } from "./expectation.ts";

/** A step with the names of this run in its texts. */
export interface Step {
  readonly do: string;
  readonly [argument: string]: unknown;
}

export interface Scenario {
  readonly id: string;
  readonly says: string;
  readonly cases?: readonly string[];
  readonly steps: readonly Step[];
}

/** How a client refuses: the command line has no code. */
export class Refused extends Error {
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** A client's way to carry steps out: by what they do. Throws `Refused`. */
export type Actions = Readonly<Record<string, (step: Step, names: Names) => Promise<unknown>>>;

/** Of boxes and snapshots: as the scenario has them, and as the daemon has them in this run. */
export class Names {
  readonly prefix: string;
  readonly #shared: string;
  readonly #known: ReadonlySet<string>;

  constructor(prefix: string, shared: string, known: Iterable<string>) {
    this.prefix = prefix;
    this.#shared = shared;
    this.#known = new Set(known);
  }

  of(name: string): string {
    return name === "shared" ? this.#shared : `${this.prefix}-${name}`;
  }

  /** Undefined: not one of this run. */
  from(name: string): string | undefined {
    return name.startsWith(`${this.prefix}-`) ? name.slice(this.prefix.length + 1) : undefined;
  }

  /** Puts them into every text of a value. */
  into<T>(value: T): T {
    if (typeof value === "string") {
      return value.replaceAll(/\{([a-z0-9-]+)\}/g, (found, name: string) => (this.#known.has(name) ? this.of(name) : found)) as T;
    }
    if (Array.isArray(value)) return value.map((item) => this.into(item)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.into(inner)])) as T;
  }
}

const directory = fileURLToPath(new URL("../../../../sdks/scenarios/", import.meta.url));

export function scenarios(): Scenario[] {
  const files = readdirSync(directory).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => ({
    id: file.replace(/\.json$/, ""),
    ...(JSON.parse(readFileSync(`${directory}${file}`, "utf8")) as Omit<Scenario, "id">),
  }));
}

/** Carries a scenario out. Throws at the first step that is not as expected, and says which. */
export async function play({ steps }: Scenario, actions: Actions, prefix: string, shared: string): Promise<void> {
  const names = new Names(prefix, shared, ["shared", ...steps.flatMap(namesIn)]);
  const kept = new Map<string, unknown>();
  for (const [at, given] of steps.entries()) {
    const step = names.into(given);
    const failure = await carryOut(step, actions, names, kept);
    if (failure !== undefined) throw new Error(`step ${at + 1}, ${JSON.stringify(step)}: ${failure}`);
  }
}

async function carryOut(step: Step, actions: Actions, names: Names, kept: Map<string, unknown>): Promise<string | undefined> {
  const action = actions[step.do];
  if (action === undefined) return "this client can't do it";
  const expected = step.error as { code?: string; message?: unknown } | undefined;
  try {
    const result = await action(step, names);
    if (expected !== undefined) return `was to be refused, and gave ${JSON.stringify(result)}`;
    keep(step, result, kept);
    return matches(result, step.expect, kept);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (expected === undefined) return `was refused: ${error.code} ${error.message}`;
    const wrongCode = expected.code !== undefined && error.code !== undefined && error.code !== expected.code;
    return wrongCode ? `code ${error.code} in place of ${expected.code}: ${error.message}` : matches(error.message, expected.message, kept);
  }
}

function keep({ keep: fields = {} }: Step, result: unknown, kept: Map<string, unknown>): void {
  for (const [name, field] of Object.entries(fields as Record<string, string>)) kept.set(name, (result as Record<string, unknown>)[field]);
}

function namesIn({ do: verb, box, as, snapshot }: Step): string[] {
  // What these call a command is no name in the daemon.
  const made = verb === "background" || verb === "supervise" ? [] : [as].flat();
  return [box, snapshot, ...made].filter((name) => typeof name === "string");
}
