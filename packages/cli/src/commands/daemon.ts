import { Command } from "commander";
export function daemonCommand(): Command {
  return new Command("daemon");
}
