import { Option } from "commander";

export function userOption(): Option {
  return new Option("-u, --user <user>", "user of the sandbox to act as; default root");
}

export function asUser({ user }: { readonly user?: string }): { user?: string } {
  return user === undefined ? {} : { user };
}
