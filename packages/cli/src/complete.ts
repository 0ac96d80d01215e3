import type { TorporClient } from "@torpor/sdk/calls";
import type { Argument, Command, Option } from "commander";

export interface Candidate {
  readonly word: string;
  /** Of the word, for shells that show it. */
  readonly about: string;
}

/** What the last of the words may become; it may be empty. The words before it are as typed, after `torpor`. */
export async function complete(program: Command, words: readonly string[], client: TorporClient): Promise<Candidate[]> {
  const last = words.at(-1) ?? "";
  const place = placeOf(program, words.slice(0, -1));
  const candidates = await candidatesAt(place, last, client);
  return candidates.filter(({ word }) => word.startsWith(last));
}

interface Place {
  readonly command: Command;
  /** The option whose value comes now. */
  readonly option: Option | undefined;
  /** Arguments before. */
  readonly given: number;
}

/** Walks along the words as the parser does: commands, options, and their values. */
function placeOf(program: Command, before: readonly string[]): Place {
  let place: Place = { command: program, option: undefined, given: 0 };
  for (const word of before) place = after(place, word);
  return place;
}

function after({ command, option, given }: Place, word: string): Place {
  if (option !== undefined) return { command, option: undefined, given };
  if (word.startsWith("-")) {
    const known = command.options.find(({ short, long }) => word === short || word === long);
    return { command, option: known?.required === true ? known : undefined, given };
  }
  const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
  return inner === undefined ? { command, option: undefined, given: given + 1 } : { command: inner, option: undefined, given: 0 };
}

async function candidatesAt({ command, option, given }: Place, last: string, client: TorporClient): Promise<Candidate[]> {
  if (option !== undefined) return valuesOf(option, client);
  if (last.startsWith("-")) {
    return command.options
      .filter(({ hidden }) => !hidden)
      .map(({ long, short, description }) => ({ word: long ?? short ?? "", about: description }));
  }
  if (command.commands.length > 0) return command.commands.map((inner) => ({ word: inner.name(), about: inner.description() }));
  const all = command.registeredArguments;
  const argument = all[given] ?? (all.at(-1)?.variadic === true ? all.at(-1) : undefined);
  return argument === undefined ? [] : valuesOf(argument, client);
}

async function valuesOf(taken: Option | Argument, client: TorporClient): Promise<Candidate[]> {
  if (taken.argChoices !== undefined) return taken.argChoices.map((word) => ({ word, about: "" }));
  const name = taken.name().replace(/^with$/, "sandbox");
  const live = lists[name];
  // Without a daemon there is nothing to name.
  return live === undefined ? [] : live(client).catch(() => []);
}

/** By the names that arguments have in the table of commands. */
const lists: Readonly<Record<string, (client: TorporClient) => Promise<Candidate[]>>> = {
  sandbox: async (client) => (await client.list()).map(({ name, state, image }) => ({ word: name, about: `${state}, ${image.reference}` })),
  snapshot: async (client) => (await client.snapshots.list()).map(({ name, source }) => ({ word: name, about: `of ${source.name}` })),
  image: imageNames,
  reference: imageNames,
  webhook: async (client) => (await client.webhooks.list()).map(({ id, url }) => ({ word: id, about: url })),
};

async function imageNames(client: TorporClient): Promise<Candidate[]> {
  return (await client.images.list()).flatMap(({ references, platform }) => references.map((word) => ({ word, about: platform })));
}
