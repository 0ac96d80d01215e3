import { InvalidArgumentError } from "commander";

type Pairs = Readonly<Record<string, string>>;

/** Gathers `--env K=V`; `--env K` takes the value from this command's own environment. */
export function addVariable(text: string, earlier: Pairs = {}): Pairs {
  const at = text.indexOf("=");
  // Whether it is a name is for the daemon to say, with the words that every client has.
  const name = at < 0 ? text : text.slice(0, at);
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  if (value === undefined) throw new InvalidArgumentError(`${name} is not set here: write ${name}=VALUE.`);
  return { ...earlier, [name]: value };
}

/** Gathers `--label K=V`. */
export function addLabel(text: string, earlier: Pairs = {}): Pairs {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError(`${JSON.stringify(text)} is no label: write NAME=VALUE.`);
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}
